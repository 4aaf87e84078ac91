from techniques.model import Option, OptionKind, Technique
from techniques.schema import Fields, MapOf, Word

TECHNIQUE = Technique(
    name="state_balancing",
    title="State balancing",
    sentence="Moves state partitions from slow executors to fast ones, one at a time.",
    needs="a stateful query on a cluster, with at least two executors",
    # By partition, the executor that it is to run on.
    settings=Fields({"places": MapOf(Word(longest=64), 10_000)}),
    options=(
        Option(
            "period",
            "Time between two moves of a pair of executors",
            OptionKind.FLOAT,
            10.0,
            low=5.0,
            high=60.0,
            unit="s",
        ),
        Option(
            "threshold",
            "Slow / fast above which a partition moves",
            OptionKind.FLOAT,
            1.2,
            low=1.0,
            high=10.0,
        ),
        Option(
            "alpha",
            "How much the newest period counts (α)",
            OptionKind.FLOAT,
            0.5,
            low=0.001,
            high=1.0,
        ),
        Option(
            "payback",
            "A move has to bring its cost back within",
            OptionKind.FLOAT,
            60.0,
            low=1.0,
            high=3_600.0,
            unit="s",
        ),
        Option(
            "move_cost",
            "Cost of a move (0: what the job's own moves showed)",
            OptionKind.FLOAT,
            0.0,
            low=0.0,
            high=600.0,
            unit="s",
        ),
    ),
)
