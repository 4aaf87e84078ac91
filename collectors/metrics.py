"""Every number an executor reports per 50 ms window: its id on the wire, its unit, its source.

Ids are for ever: a metric that goes away leaves a hole. The Scala twin is `probe/Metrics.scala`;
`tests/collectors/test_probe_formats.py` holds the two together, and `docs/metrics.md` is checked
against this table.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    id: int
    name: str
    unit: str
    meaning: str
    source: str


METRICS = (
    Metric(1, "host_cpu", "permille", "share of all cores in use on the host", "/proc/stat"),
)

BY_ID = {metric.id: metric for metric in METRICS}
BY_NAME = {metric.name: metric for metric in METRICS}
