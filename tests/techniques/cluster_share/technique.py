from techniques.model import Scope, Technique
from techniques.schema import Fields, Number, Word

TECHNIQUE = Technique(
    name="cluster_share",
    title="Cluster share",
    sentence="Tells each job of a label its share of what all of them do.",
    settings=Fields({"word": Word(), "share": Number(0, 1)}),
    lease_ms=5_000,
    scope=Scope.CLUSTER,
)
