from collections.abc import Sequence

from techniques.orders import ECHO, EXECUTORS, JobFacts, Order
from techniques.schema import Settings


def orders(settings: Settings, job: JobFacts) -> Sequence[Order]:
    return (Order(ECHO, EXECUTORS, settings),)
