from techniques.model import Option, OptionKind, Technique
from techniques.schema import Fields, Flag, Number

WHERE = ("outgoing-queues", "shared-queue")

TECHNIQUE = Technique(
    name="largest_backlog",
    title="Largest backlog first",
    sentence=(
        "Lets only the sender with the largest outgoing backlog send, looked up anew every few "
        "hundredths of a second."
    ),
    needs="a job that uses the operator pool, with several tasks or instances on a host",
    settings=Fields({"tau_ms": Number(10, 1_000, whole=True), "shared": Flag()}),
    options=(
        Option(
            "tau",
            "Time between two looks at the backlogs (τ)",
            OptionKind.INT,
            80,
            low=10,
            high=1_000,
            unit="ms",
        ),
        Option(
            "where",
            "Senders take turns for the instances' own queues, or for one that they share",
            OptionKind.CHOICE,
            WHERE[0],
            choices=WHERE,
        ),
    ),
)
