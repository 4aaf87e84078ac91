"""A job's latest windows as the arrays that detectors and controllers work on."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import numpy as np

from collectors import keys
from collectors.activity import Activity
from collectors.wire import Frame
from dashboard import activities, windows
from dashboard.store import Store
from techniques.view import Floats, Interval, View

Key = TypeVar("Key")

LOOKS_BACK_MS = 60_000


async def view(store: Store, job_id: str, now_ms: int) -> View:
    start_ms = now_ms - LOOKS_BACK_MS
    frames, _ = windows.read(await store.entries(keys.frames(job_id), start_ms, now_ms))
    ended, _ = activities.read(await store.entries(keys.activities(job_id), start_ms, now_ms))
    return of(frames, ended, now_ms)


def of(frames: Sequence[Frame], ended: Iterable[Activity], now_ms: int) -> View:
    columns = windows.columns("", frames, 0)
    told = columns["latency"]
    return View(
        now_ms=now_ms,
        t_ms=np.array(columns["t"], dtype=np.int64),
        records=_floats(told["count"]),
        p50_ms=_floats(told["p50"]),
        p99_ms=_floats(told["p99"]),
        p999_ms=_floats(told["p999"]),
        backlog_rows=_floats(columns["backlog_rows"]),
        host_cpu=_each(columns["cpu"], str),
        flushes=_each(columns["state"]["flushes"], int),
        compactions=_each(columns["state"]["compactions"], int),
        intervals=tuple(_interval(each) for each in ended),
    )


def _floats(values: Sequence[float | None]) -> Floats:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def _each(columns: dict[str, list[float | None]], key: Callable[[str], Key]) -> dict[Key, Floats]:
    return {key(name): _floats(values) for name, values in columns.items()}


def _interval(each: Activity) -> Interval:
    return Interval(
        kind=each.kind.name.lower(),
        start_ms=each.start_us / 1000,
        end_ms=each.end_us / 1000,
        executor=each.executor_id,
        operator=each.operator,
        partition=each.partition,
    )
