from collections.abc import Sequence

from techniques.orders import JobFacts, Order
from techniques.pool.controllers import steering
from techniques.schema import Settings


def orders(settings: Settings, job: JobFacts) -> Sequence[Order]:
    """With a shared queue the signals decide whose chunks get into it next."""
    policy = "shared-queue" if settings["shared"] else None
    return steering.orders(job, policy, steering.numbers(settings, "tau_ms"))
