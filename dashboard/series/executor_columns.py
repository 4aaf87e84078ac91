"""The executor metrics that every answer about windows includes as columns.

`COLUMNS` have a value in every window; `SELDOM` are those of memory, which a frame has once a
second (`dashboard.series.seconds`).
The JSON of the API and of the live feed, the API's schema and the CSV are made from this table; on
the page, the panel that draws the column names it (`frontend/static/curtail/js/chart/panels.js`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from collectors.formats.metrics import BY_NAME
from collectors.formats.samples import ExecutorSample
from collectors.formats.wire import WINDOW_MS, Frame

Values = dict[str, list[float | None]]


class By(StrEnum):
    """How values are grouped. All executors of a host report its value; the largest is taken."""

    HOST = "host"
    EXECUTOR = "executor"

    def named(self, sample: ExecutorSample) -> str:
        return sample.host if self is By.HOST else sample.executor_id


@dataclass(frozen=True)
class ExecutorColumn:
    """`metric` is a name in `collectors.formats.metrics`; `divisor` converts to the unit."""

    name: str
    csv_name: str
    metric: str
    by: By
    divisor: float = 1

    def values(self, frames: Sequence[Frame]) -> Values:
        metric_id = BY_NAME[self.metric].id
        rows: list[dict[str, int]] = []
        for frame in frames:
            row: dict[str, int] = {}
            rows.append(row)
            for sample in frame.executors:
                if (value := sample.metrics.get(metric_id)) is not None:
                    name = self.by.named(sample)
                    row[name] = max(value, row.get(name, value))
        names = sorted({name for row in rows for name in row})
        return {name: [self._value(row.get(name)) for row in rows] for name in names}

    def _value(self, told: int | None) -> float | None:
        # A number of bytes stays whole.
        return told if told is None or self.divisor == 1 else told / self.divisor


COLUMNS = (
    # The metric is in permille of the host.
    ExecutorColumn("cpu", "host_cpu_percent", "host_cpu", By.HOST, 10),
    # Percent of one core: 200 is two cores busy for the whole window.
    ExecutorColumn(
        "process_cpu", "executor_cpu_percent", "process_cpu_us", By.EXECUTOR, WINDOW_MS * 10
    ),
)


SELDOM = (
    ExecutorColumn("memory", "container_memory_bytes", "container_memory_bytes", By.EXECUTOR),
    ExecutorColumn(
        "reclaimable", "container_reclaimable_bytes", "container_reclaimable_bytes", By.EXECUTOR
    ),
    ExecutorColumn("memory_limit", "container_limit_bytes", "container_limit_bytes", By.EXECUTOR),
    ExecutorColumn("resident", "process_resident_bytes", "process_resident_bytes", By.EXECUTOR),
    ExecutorColumn("rocksdb_cache", "rocksdb_cache_bytes", "rocksdb_cache_bytes", By.EXECUTOR),
    ExecutorColumn("rocksdb_pinned", "rocksdb_pinned_bytes", "rocksdb_pinned_bytes", By.EXECUTOR),
    ExecutorColumn(
        "rocksdb_memtables", "rocksdb_memtables_bytes", "rocksdb_memtables_bytes", By.EXECUTOR
    ),
    ExecutorColumn(
        "rocksdb_readers", "rocksdb_readers_bytes", "rocksdb_readers_bytes", By.EXECUTOR
    ),
)
SELDOM_IDS = frozenset(BY_NAME[column.metric].id for column in SELDOM)


def columns(
    frames: Sequence[Frame], wanted: Sequence[ExecutorColumn] = COLUMNS
) -> dict[str, Values]:
    return {column.name: column.values(frames) for column in wanted}
