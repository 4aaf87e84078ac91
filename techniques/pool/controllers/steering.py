"""What the techniques on operator pools have in common: orders for each pool of a job, and the
decision to give them.

Realizers import this in the user's driver, which needs neither NumPy nor Arrow.
"""

from collections.abc import Mapping, Sequence

from techniques.model import Conditions, Decision, Evidence, Mode, Past
from techniques.orders import POOL, JobFacts, Order, Refused, dispatch, pool
from techniques.schema import Setting, Settings

NO_POOL = (
    "this job uses no operator pool, which takes one line: "
    "df.transform(pooled(your_function, schema, instances=8)) "
    "with `from techniques.pool import pooled`"
)


def orders(
    job: JobFacts, policy: str | None = None, settings: Mapping[str, int] | None = None
) -> Sequence[Order]:
    """The same for every pool; whatever is not named stays as it was found."""
    if not job.pools:
        raise Refused(NO_POOL)
    values: dict[str, Setting] = {}
    if policy is not None:
        values["policy"] = policy
    if settings:
        values["settings"] = dict(settings)
    return tuple(
        Order(POOL, pool(each.host, each.name), values, (dispatch(each.host, each.name),))
        for each in job.pools
    )


def numbers(settings: Settings, *names: str) -> dict[str, int]:
    """The settings of these names, for the words of a pool's page."""
    found = {}
    for name in names:
        if not isinstance(value := settings[name], int):
            raise Refused(f"{name} has to be a whole number")
        found[name] = value
    return found


def decided(
    settings: Settings,
    does: str,
    holds: Conditions,
    evidence: Sequence[Evidence],
    past: Past,
) -> Decision | None:
    """The decision for these settings, `does` in words.

    Advice is given only where the conditions hold. *Act* is the operator's word and is carried out
    wherever there is a pool; the reason then says that the conditions do not ask for it. No
    decision is taken back when they end: to make them end is what it is for."""
    if holds.hold:
        return Decision(settings, f"{does}: {holds.why}", tuple(evidence))
    if past.mode is not Mode.ACT:
        return None
    return Decision(settings, f"{does}, because it was asked for: {holds.why}", tuple(evidence))
