"""What frames have once a second, as columns of their own: a row per frame that has any of it.

Among the columns of windows nineteen of twenty values would be missing, at several bytes each.
"""

from collections.abc import Sequence
from typing import Any

from collectors.formats.wire import Frame
from dashboard.series import executor_columns

# Columns by stateful operator: their names, and of `StateSize` the attribute.
STATE = {"state_rows": "rows", "state_bytes": "state_bytes"}


def columns(frames: Sequence[Frame]) -> dict[str, Any]:
    told = [frame for frame in frames if _has_any(frame)]
    return {
        "t": [frame.start_ms for frame in told],
        **executor_columns.columns(told, executor_columns.SELDOM),
        **_state(told),
        "operators": {str(each.operator): each.name for f in told for each in f.state_sizes},
        "lag_ms": [frame.lag.lag_ms if frame.lag else None for frame in told],
        "lag_basis": [frame.lag.basis.name.lower() if frame.lag else None for frame in told],
        "lag_partitions": [frame.lag.partitions if frame.lag else None for frame in told],
        "lag_rows": _lag_rows(told),
    }


def _has_any(frame: Frame) -> bool:
    return bool(
        frame.state_sizes
        or frame.lag
        or any(not executor_columns.SELDOM_IDS.isdisjoint(s.metrics) for s in frame.executors)
    )


def _state(frames: Sequence[Frame]) -> dict[str, dict[str, list[int | None]]]:
    operators = sorted({each.operator for frame in frames for each in frame.state_sizes})
    rows = [{each.operator: each for each in frame.state_sizes} for frame in frames]
    return {
        name: {
            str(operator): [getattr(row.get(operator), attribute, None) for row in rows]
            for operator in operators
        }
        for name, attribute in STATE.items()
    }


def _lag_rows(frames: Sequence[Frame]) -> dict[str, list[int | None]]:
    """The rows by source partition. One that is not among a frame's worst has none there."""
    rows: list[dict[str, int]] = []
    for frame in frames:
        row: dict[str, int] = {}
        rows.append(row)
        for each in frame.lag.worst if frame.lag else ():
            # Two sources may read the same topic: the one that is further behind counts.
            row[each.partition] = max(each.rows, row.get(each.partition, 0))
    partitions = sorted({partition for row in rows for partition in row})
    return {partition: [row.get(partition) for row in rows] for partition in partitions}
