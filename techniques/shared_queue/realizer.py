from collections.abc import Sequence

from techniques.orders import JobFacts, Order
from techniques.pool.controllers import steering
from techniques.schema import Settings


def orders(settings: Settings, job: JobFacts) -> Sequence[Order]:
    return steering.orders(job, policy=str(settings["policy"]))
