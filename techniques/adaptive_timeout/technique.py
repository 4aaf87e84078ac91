from techniques.model import Option, OptionKind, Technique
from techniques.schema import Fields, Number

# The algorithm's own timeout, or the hedged requests of Dean & Barroso ("The Tail at Scale").
RULES = ("adaptive", "hedge")

TECHNIQUE = Technique(
    name="adaptive_timeout",
    title="Adaptive timeout with replay",
    sentence=(
        "Sends a chunk that takes longer than a timeout to a second instance of the pool; "
        "the first result counts."
    ),
    needs="a job that uses the operator pool, with at least two instances",
    settings=Fields(
        {
            "replay": Number(1, 2, whole=True),
            "replay_budget": Number(10, 5_000, whole=True),
            "replay_period_ms": Number(100, 60_000, whole=True),
        }
    ),
    options=(
        Option(
            "rule",
            "Timeout: by the paper's algorithm, or always p95 (hedge)",
            OptionKind.CHOICE,
            RULES[0],
            choices=RULES,
        ),
        Option(
            "budget",
            "Most chunks to replay",
            OptionKind.FLOAT,
            5.0,
            low=0.1,
            high=50.0,
            unit="% of chunks",
        ),
        Option(
            "period",
            "Time after which the timeout is computed anew",
            OptionKind.FLOAT,
            1.0,
            low=0.1,
            high=60.0,
            unit="s",
        ),
    ),
)
