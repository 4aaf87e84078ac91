from techniques.model import Technique
from techniques.schema import Fields, Word

POLICY = "shared-queue"

TECHNIQUE = Technique(
    name="shared_queue",
    title="Shared queue",
    sentence=(
        "Lets all instances of an operator on a host draw from one queue, so that no chunk waits "
        "behind another while an instance is idle."
    ),
    needs="a job that uses the operator pool, with at least two instances",
    settings=Fields({"policy": Word((POLICY,))}),
)
