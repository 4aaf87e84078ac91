from collections.abc import Mapping, Sequence

from techniques.orders import DRIVER, PLACEMENT, STATE_PLACEMENT, JobFacts, Order, Refused
from techniques.schema import Settings

# What Spark calls the one executor of a local master.
LOCAL = "driver"


def orders(settings: Settings, job: JobFacts) -> Sequence[Order]:
    """Wishes for executors that are not there any more are left out: Spark's own placement has
    taken over."""
    there = {each.executor_id for each in job.executors} - {LOCAL}
    if not there and job.executors:
        raise Refused("this job runs on a local master, where all state is in the driver")
    if len(there) < 2:
        raise Refused("there is only one executor: a state partition has nowhere to go")
    wished = settings["places"]
    if not isinstance(wished, Mapping):
        raise Refused("places have to be a map from partitions to executors")
    places = {each: to for each, to in wished.items() if to in there and _is_number(each)}
    return (Order(STATE_PLACEMENT, DRIVER, {"places": places}, (PLACEMENT,)),)


def _is_number(partition: str) -> bool:
    return partition.isascii() and partition.isdecimal()
