from techniques.model import Option, OptionKind, Technique
from techniques.schema import Fields, Number, Word

# The paper's algorithm, and what an expert would try instead: policies of the pool.
BY = ("latency-weighted", "power-of-two", "fewest-queued")

TECHNIQUE = Technique(
    name="latency_balancing",
    title="Latency-based balancing",
    sentence="Moves traffic from slow instances of an operator to fast ones, a little at a time.",
    needs="a job that uses the operator pool, with at least two instances",
    settings=Fields(
        {
            "policy": Word(BY),
            "balance_period_ms": Number(100, 600_000, whole=True),
            "balance_alpha": Number(1, 1_000, whole=True),
            "balance_threshold": Number(1_000, 10_000, whole=True),
            "balance_unit": Number(1, 1_000, whole=True),
        }
    ),
    options=(
        Option(
            "by",
            "Chunks go by latency weights (the paper's), to the shorter of two queues drawn at "
            "random, or to the shortest",
            OptionKind.CHOICE,
            BY[0],
            choices=BY,
        ),
        Option(
            "period",
            "Weights: time between two changes",
            OptionKind.FLOAT,
            5.0,
            low=0.1,
            high=600.0,
            unit="s",
        ),
        Option(
            "alpha",
            "Weights: how much the newest latency counts (α)",
            OptionKind.FLOAT,
            0.5,
            low=0.001,
            high=1.0,
        ),
        Option(
            "threshold",
            "Weights: slow / fast above which traffic moves",
            OptionKind.FLOAT,
            1.2,
            low=1.0,
            high=10.0,
        ),
        Option(
            "unit",
            "Weights: traffic that moves at a time",
            OptionKind.FLOAT,
            1.0,
            low=0.01,
            high=10.0,
            unit="%",
        ),
    ),
)
