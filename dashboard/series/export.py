"""Windows as a table: one row per window that was received, units in the names."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from collectors.formats import latency
from collectors.formats.latency import Source
from collectors.formats.wire import Frame
from dashboard.series import seconds, windows
from dashboard.series.executor_columns import COLUMNS, SELDOM, By, ExecutorColumn

# The moments at which a record's latency ends, as `windows.columns` names them.
MOMENTS = ("latency", "committed")
# Columns per instance of an operator pool, with their names in `dashboard.series.pool_columns`.
POOL_COLUMNS = {
    "pool_queued_chunks": "queued",
    "pool_busy_percent": "busy",
    "pool_p99_ms": "p99",
    "pool_outgoing_chunks": "parked",
    "pool_weight_percent": "weight",
}


@dataclass(frozen=True)
class Shape:
    """The columns of a range, collected first because a CSV needs its header before any row."""

    source: Source = Source.NONE
    hosts: frozenset[str] = frozenset()
    executors: frozenset[str] = frozenset()
    operators: frozenset[int] = frozenset()
    # Instances of operator pools: pool, host and instance.
    instances: frozenset[tuple[str, str, str]] = frozenset()
    # Stateful operators, and source partitions that were among those furthest behind.
    sized: frozenset[int] = frozenset()
    partitions: frozenset[str] = frozenset()
    # The end of the last frame: frames that arrive later may have columns missing in the header.
    end_ms: int = 0

    def widened(self, frames: Sequence[Frame]) -> "Shape":
        if not frames:
            return self
        return Shape(
            latency.source_of(frames, self.source),
            self.hosts | {sample.host for frame in frames for sample in frame.executors},
            self.executors | {each.executor_id for frame in frames for each in frame.executors},
            self.operators | {each.operator for frame in frames for each in frame.state},
            self.instances | {key for frame in frames for key in _instances(frame)},
            self.sized | {each.operator for frame in frames for each in frame.state_sizes},
            self.partitions | {each.partition for f in frames if f.lag for each in f.lag.worst},
            max(self.end_ms, frames[-1].start_ms + 1),
        )

    def names(self) -> list[str]:
        return [
            "time_utc",
            "start_epoch_ms",
            "latency_source",
            *(_named(moment, name) for moment, name in _percentiles()),
            "rows_in_rows",
            "backlog_rows",
            "tasks_running",
            "tasks_waiting",
            *(f"{column.csv_name}/{name}" for column, name in self._executor_columns()),
            *(f"{name}/operator_{operator}" for name, operator in self._state()),
            *(
                f"{name}/{pool}@{host}/{instance}"
                for pool, host, instance in sorted(self.instances)
                for name in POOL_COLUMNS
            ),
            "lag_ms",
            "lag_basis",
            "lag_partitions",
            *(f"lag_rows/{partition}" for partition in sorted(self.partitions)),
            *(f"{name}/operator_{operator}" for name, operator in self._sized()),
            *(f"{column.csv_name}/{name}" for column, name in self._seldom_columns()),
        ]

    def rows(self, frames: Sequence[Frame]) -> Iterator[list[Any]]:
        """The rows, in the order of `names`; a value that a window lacks is empty, never zero."""
        columns = windows.columns("", frames, 0, self.source)
        state = columns["state"]
        pooled = _by_instance(columns["pools"])
        missing = [None] * len(frames)
        cells = [
            *(columns[moment][name] for moment, name in _percentiles()),
            columns["rows_in"],
            columns["backlog_rows"],
            columns["tasks"]["running"],
            columns["tasks"]["waiting"],
            *(columns[each.name].get(name, missing) for each, name in self._executor_columns()),
            *(state[name].get(str(operator), missing) for name, operator in self._state()),
            *(
                pooled[key][column] if key in pooled else missing
                for key in sorted(self.instances)
                for column in POOL_COLUMNS.values()
            ),
            *self._once_a_second(columns["seconds"], columns["t"]),
        ]
        for start_ms, *values in zip(columns["t"], *cells, strict=True):
            yield [_iso(start_ms), start_ms, self.source, *values]

    def _once_a_second(self, told: dict[str, Any], times_ms: list[int]) -> Iterator[list[Any]]:
        """The columns that are told once a second, with nothing in the windows between."""
        places = {at_ms: place for place, at_ms in enumerate(told["t"])}
        rows = [places.get(at_ms) for at_ms in times_ms]

        def spread(values: Sequence[Any]) -> list[Any]:
            return [None if not values or row is None else values[row] for row in rows]

        for name in ("lag_ms", "lag_basis", "lag_partitions"):
            yield spread(told[name])
        for partition in sorted(self.partitions):
            yield spread(told["lag_rows"].get(partition, ()))
        for name, operator in self._sized():
            yield spread(told[name].get(str(operator), ()))
        for column, name in self._seldom_columns():
            yield spread(told[column.name].get(name, ()))

    def _executor_columns(self) -> list[tuple[ExecutorColumn, str]]:
        names = {By.HOST: sorted(self.hosts), By.EXECUTOR: sorted(self.executors)}
        return [(column, name) for column in COLUMNS for name in names[column.by]]

    def _seldom_columns(self) -> list[tuple[ExecutorColumn, str]]:
        return [(column, name) for column in SELDOM for name in sorted(self.executors)]

    def _sized(self) -> list[tuple[str, int]]:
        return [(name, operator) for operator in sorted(self.sized) for name in seconds.STATE]

    def _state(self) -> list[tuple[str, int]]:
        names = ("flushes", "compactions", "l0_files")
        return [(name, operator) for operator in sorted(self.operators) for name in names]


def _instances(frame: Frame) -> Iterator[tuple[str, str, str]]:
    for pool in frame.pools:
        for number in range(len(pool.instances)):
            yield pool.name, pool.host, pool.instance_name(number)


def _by_instance(pools: Iterable[dict[str, Any]]) -> dict[tuple[str, str, str], dict[str, Any]]:
    return {
        (pool["name"], pool["host"], each["name"]): each
        for pool in pools
        for each in pool["instances"]
    }


def lines(rows: Iterable[Sequence[Any]]) -> bytes:
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue().encode()


def _percentiles() -> list[tuple[str, str]]:
    return [(moment, name) for moment in MOMENTS for name in ("count", *windows.QUANTILES)]


def _named(moment: str, name: str) -> str:
    return f"{moment}_count_records" if name == "count" else f"{moment}_{name}_ms"


def _iso(epoch_ms: int) -> str:
    at = datetime.fromtimestamp(epoch_ms // 1000, UTC).replace(microsecond=epoch_ms % 1000 * 1000)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
