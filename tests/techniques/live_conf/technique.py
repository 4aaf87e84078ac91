from techniques.model import Option, OptionKind, Technique
from techniques.schema import Fields, Number

TECHNIQUE = Technique(
    name="live_conf",
    title="Live options",
    sentence="Copies tasks that take longer than their stage's median by a factor.",
    options=(Option("factor", "Factor", OptionKind.FLOAT, 3.0, low=1.0, high=10.0),),
    settings=Fields({"factor": Number(1, 10)}),
    lease_ms=5_000,
)
