from collections.abc import Sequence

from techniques.orders import DRIVER, PLACEMENT, STATE_PLACEMENT, JobFacts, Order
from techniques.schema import Settings


def orders(settings: Settings, job: JobFacts) -> Sequence[Order]:
    return (Order(STATE_PLACEMENT, DRIVER, {"places": settings["places"]}, (PLACEMENT,)),)
