from techniques.model import Option, OptionKind, Technique
from techniques.schema import Fields, Flag, MapOf, Number, Word
from techniques.task_copies.algorithm import FLOOR_MS, MOST_MS

WHEN_SAFE, ALWAYS, NEVER = SINK_CHOICES = ("when safe", "always", "never")
# Stages of one batch that may have a timeout.
MOST_KINDS = 100

TECHNIQUE = Technique(
    name="task_copies",
    title="Adaptive timeout by speculation",
    sentence=(
        "Starts a copy of a task that runs longer than a timeout on another host; "
        "the first of the two to end counts."
    ),
    needs="a cluster with executors on at least two hosts",
    settings=Fields(
        # Both maps are by the place of the stage in its batch.
        {
            "timeouts_ms": MapOf(Number(FLOOR_MS, MOST_MS), MOST_KINDS),
            "costs_ms": MapOf(Number(1, MOST_MS), MOST_KINDS),
            "budget_percent": Number(0.1, 50),
            "sink": Flag(),
        },
        optional={
            # Why stages have no timeout, in words.
            "left_out": MapOf(Word(), MOST_KINDS),
            # The operator wants copies of tasks that write, whatever the sink.
            "any_sink": Flag(),
            # The operator wants copies of tasks that use a state store, which places their state.
            "stateful": Flag(),
            # The run of the query that was seen: another may number its stages differently.
            "run": Word(),
        },
    ),
    options=(
        Option(
            "budget",
            "Most task time for copies",
            OptionKind.FLOAT,
            5.0,
            low=0.1,
            high=50.0,
            unit="% of task time",
        ),
        Option(
            "period",
            "Time whose tasks set the timeout",
            OptionKind.FLOAT,
            30.0,
            low=5.0,
            high=120.0,
            unit="s",
        ),
        Option(
            "sink",
            "Copy tasks that write to the sink",
            OptionKind.CHOICE,
            WHEN_SAFE,
            choices=SINK_CHOICES,
        ),
        Option(
            "stateful",
            "Copy tasks that use a state store (the copy loads the state elsewhere)",
            OptionKind.BOOL,
            False,
        ),
    ),
)
