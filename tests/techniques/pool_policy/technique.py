from techniques.model import Option, OptionKind, Technique
from techniques.schema import Fields, MapOf, Number, Word

POLICIES = ("round-robin", "fewest-queued")

TECHNIQUE = Technique(
    name="pool_policy",
    title="Pool policy",
    sentence="Hands chunks of the job's operator pools out by another policy.",
    needs="a job that uses the operator pool",
    options=(Option("policy", "Policy", OptionKind.CHOICE, POLICIES[1], choices=POLICIES),),
    settings=Fields(
        {"policy": Word(POLICIES)},
        optional={"settings": MapOf(Number(0, 1_000_000, whole=True), most=8)},
    ),
    lease_ms=5_000,
)
