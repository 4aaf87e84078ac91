from techniques.model import Technique
from techniques.schema import Fields, Flag, MapOf, Number

TIMES_MS = MapOf(Number(1, 3_600_000), most=1_000)

TECHNIQUE = Technique(
    name="copied",
    title="Copies of tasks",
    sentence="Copies tasks that run longer than their kind of stage should.",
    settings=Fields(
        {"timeouts_ms": TIMES_MS, "costs_ms": TIMES_MS, "budget_percent": Number(0, 100)},
        optional={"sink": Flag()},
    ),
    lease_ms=60_000,
)
