from collections.abc import Sequence

from techniques.latency_balancing.technique import BY
from techniques.orders import JobFacts, Order
from techniques.pool.controllers import steering
from techniques.schema import Settings

TUNING = ("balance_period_ms", "balance_alpha", "balance_threshold", "balance_unit")


def orders(settings: Settings, job: JobFacts) -> Sequence[Order]:
    """The tuning is of the weights; the other policies have none."""
    policy = str(settings["policy"])
    tuning = steering.numbers(settings, *TUNING) if policy == BY[0] else {}
    return steering.orders(job, policy, tuning)
