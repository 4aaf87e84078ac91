"""What a realizer knows of a running job, and the orders it gives to the probe's levers.

An order is data for one lever of one place. Before orders are sent the agent arbitrates: a resource
that an order claims has one owner at a time.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from techniques.schema import Settings

# What the probe can move (`collectors/probe`): the names of its levers.
STATE_STORES, POOL, SPARK_CONF, ECHO = "state-stores", "pool", "spark-conf", "echo"
STATE_PLACEMENT, TASK_COPIES = "state-placement", "task-copies"
FAIR_SHARE, EXECUTOR_TOTAL = "fair-share", "executors"
LEVERS = (
    ECHO,
    STATE_STORES,
    POOL,
    SPARK_CONF,
    STATE_PLACEMENT,
    TASK_COPIES,
    FAIR_SHARE,
    EXECUTOR_TOTAL,
)


class Place(StrEnum):
    DRIVER = "driver"
    EXECUTORS = "executors"  # all executors, including those that join later
    EXECUTOR = "executor"
    POOL = "pool"  # a pool on one host: the executor there that looks after it


@dataclass(frozen=True)
class Address:
    """Where an order goes; `executor`, or `host` and `pool`, only where the place has them."""

    place: Place
    executor: str = ""
    host: str = ""
    pool: str = ""


DRIVER, EXECUTORS = Address(Place.DRIVER), Address(Place.EXECUTORS)


def executor(executor_id: str) -> Address:
    return Address(Place.EXECUTOR, executor=executor_id)


def pool(host: str, name: str) -> Address:
    return Address(Place.POOL, host=host, pool=name)


@dataclass(frozen=True)
class Claim:
    """A resource that one technique at a time may act on: of one job, or of its application."""

    resource: str
    of_application: bool = False


# The resources that more than one technique wants.
PLACEMENT, COMPACTION = Claim("placement of state"), Claim("compaction of state stores")
SPECULATION = Claim("speculation", of_application=True)
COPIES = Claim("copies of tasks")


# A technique that sizes what a job gets.
SHARE = Claim("share in the fair scheduler")
EXECUTOR_COUNT = Claim("number of executors", of_application=True)


def dispatch(host: str, name: str) -> Claim:
    return Claim(f"dispatch of pool {name} on {host}", of_application=True)


def size(host: str, name: str) -> Claim:
    return Claim(f"instances of pool {name} on {host}", of_application=True)


@dataclass(frozen=True)
class Order:
    """What a lever is to hold: data, never code."""

    lever: str
    to: Address
    values: Settings
    claims: tuple[Claim, ...] = ()


@dataclass(frozen=True)
class ExecutorFacts:
    """`executor_id` is Spark's; in local mode the one executor is called "driver". It is `leaving`
    once Spark decommissions it."""

    executor_id: str
    host: str
    leaving: bool = False


@dataclass(frozen=True)
class PoolFacts:
    """One pool on one host: its operators, and for each instance the place of its operator."""

    name: str
    host: str
    operators: tuple[str, ...] = ()
    instances: tuple[int, ...] = ()


@dataclass(frozen=True)
class JobFacts:
    """A running job as its driver knows it now. `partitions` says which executor had the state
    store of (operator, partition) last; `sink` is what Spark calls the query's sink."""

    query_id: str
    run_id: str
    executors: tuple[ExecutorFacts, ...] = ()
    pools: tuple[PoolFacts, ...] = ()
    partitions: Mapping[tuple[int, int], str] = field(default_factory=dict)
    sink: str = ""


class Refused(Exception):
    """A realizer cannot turn these settings into orders; the message says why."""
