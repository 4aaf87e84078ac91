from collections.abc import Sequence

from techniques.orders import POOL, JobFacts, Order, Refused, dispatch, pool
from techniques.schema import Settings


def orders(settings: Settings, job: JobFacts) -> Sequence[Order]:
    if not job.pools:
        raise Refused("this job uses no operator pool")
    return [
        Order(POOL, pool(each.host, each.name), settings, (dispatch(each.host, each.name),))
        for each in job.pools
    ]
