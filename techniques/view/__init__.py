"""What detectors, controllers and cards see of a job: frozen values, no bytes and no store."""

from techniques.intervals import Floats, Interval, Intervals, Ints
from techniques.view.executors import Executor
from techniques.view.heavy_keys import HeavyKey
from techniques.view.pools import Instance, Latencies, Pool, Sent
from techniques.view.reads import BASIC, EVERYTHING, Reads
from techniques.view.tasks import Locality, Tasks
from techniques.view.traffic import Traffic
from techniques.view.view import WINDOW_MS, Resource, ResourceKind, View

__all__ = [
    "BASIC",
    "EVERYTHING",
    "WINDOW_MS",
    "Executor",
    "Floats",
    "HeavyKey",
    "Instance",
    "Interval",
    "Intervals",
    "Ints",
    "Latencies",
    "Locality",
    "Pool",
    "Reads",
    "Resource",
    "ResourceKind",
    "Sent",
    "Tasks",
    "Traffic",
    "View",
]
