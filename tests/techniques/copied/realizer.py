from collections.abc import Sequence

from techniques.orders import COPIES, DRIVER, TASK_COPIES, JobFacts, Order
from techniques.schema import Settings


def orders(settings: Settings, job: JobFacts) -> Sequence[Order]:
    return (Order(TASK_COPIES, DRIVER, settings, (COPIES,)),)
