"""The resources that an objective moves, as orders: what a decision does not name stays as it is.

What cannot be moved for a job is refused with the reason, here where the job's own facts say so,
and by the levers where only Spark knows it (a FIFO scheduler, a local master, no more room).
"""

from collections.abc import Mapping, Sequence

from techniques.orders import (
    DRIVER,
    EXECUTOR_COUNT,
    EXECUTOR_TOTAL,
    FAIR_SHARE,
    POOL,
    SHARE,
    JobFacts,
    Order,
    Refused,
    pool,
    size,
)
from techniques.pool.controllers.steering import NO_POOL
from techniques.schema import Setting, Settings


def orders(settings: Settings, job: JobFacts) -> Sequence[Order]:
    """`instances` are of each host that has the operator's pool."""
    made: list[Order] = []
    instances = settings.get("instances")
    if isinstance(instances, Mapping) and instances:
        made += _sizes(instances, job)
    share = {name: settings[name] for name in ("share", "min_share") if name in settings}
    if share:
        made.append(Order(FAIR_SHARE, DRIVER, share, (SHARE,)))
    if "executors" in settings:
        wanted = {"executors": settings["executors"]}
        made.append(Order(EXECUTOR_TOTAL, DRIVER, wanted, (EXECUTOR_COUNT,)))
    return made


def _sizes(instances: Mapping[str, Setting], job: JobFacts) -> list[Order]:
    if not job.pools:
        raise Refused(NO_POOL)
    known = {operator for each in job.pools for operator in each.operators}
    unknown = sorted(set(instances) - known)
    if unknown:
        raise Refused(
            f"no pool of this job has the operator {unknown[0]}; there are {', '.join(sorted(known))}"
        )
    made: list[Order] = []
    for each in job.pools:
        own = {name: instances[name] for name in each.operators if name in instances}
        if own:
            to, claim = pool(each.host, each.name), size(each.host, each.name)
            made.append(Order(POOL, to, {"instances": own}, (claim,)))
    return made
