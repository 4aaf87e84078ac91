from collections.abc import Sequence

from techniques.orders import JobFacts, Order
from techniques.pool.controllers import steering
from techniques.schema import Settings


def orders(settings: Settings, job: JobFacts) -> Sequence[Order]:
    """Chunks are still handed out by the policy that is in force: a replay comes on top of it."""
    values = steering.numbers(settings, "replay", "replay_budget", "replay_period_ms")
    return steering.orders(job, settings=values)
