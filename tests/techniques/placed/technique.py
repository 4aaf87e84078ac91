from techniques.model import Technique
from techniques.schema import Fields, MapOf, Word

TECHNIQUE = Technique(
    name="placed",
    title="Placed state",
    sentence="Runs each state partition on the executor that is named for it.",
    options=(),
    settings=Fields({"places": MapOf(Word(longest=64), 10_000)}),
    lease_ms=5_000,
)
