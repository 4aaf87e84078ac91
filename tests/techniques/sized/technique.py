from techniques.model import Technique
from techniques.schema import Fields, MapOf, Number

TECHNIQUE = Technique(
    name="sized",
    title="Sized",
    sentence="Gives a job the instances, the share and the executors that are named.",
    settings=Fields(
        optional={
            "instances": MapOf(Number(1, 64, whole=True), most=64),
            "share": Number(1, 100, whole=True),
            "min_share": Number(0, 1000, whole=True),
            "executors": Number(1, 10_000, whole=True),
        }
    ),
    lease_ms=5_000,
)
