"""Views of a job on a cluster, made up from the tasks that a test is about."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from techniques.intervals import Interval
from techniques.view import WINDOW_MS, Executor, Locality, Tasks, View
from techniques.view.tasks import TYPES

START_MS = 1_700_000_000_000


@dataclass(frozen=True)
class Task:
    """A task of a made-up stage. Times are milliseconds after `START_MS`; `waited_ms` is the time
    from the submission of the stage to `launched_ms`."""

    stage: int
    partition: int
    executor: str
    launched_ms: float
    duration_ms: float
    waited_ms: float = 0.0
    kind: int = 1
    stateful: bool = True
    successful: bool = True
    speculative: bool = False


def tasks(rows: Iterable[Task]) -> Tasks:
    made = sorted(rows, key=lambda row: row.launched_ms + row.duration_ms)
    columns = [
        (
            START_MS + row.launched_ms,
            START_MS + row.launched_ms + row.duration_ms,
            row.executor,
            row.stage,
            0,
            row.partition,
            0,
            row.speculative,
            row.successful,
            Locality.PROCESS_LOCAL,
            row.kind,
            row.waited_ms,
            row.stateful,
            False,
        )
        for row in made
    ]
    if not columns:
        return Tasks.none()
    by_column = zip(*columns, strict=True)
    return Tasks(
        *(np.array(column, dtype=type_) for column, type_ in zip(by_column, TYPES, strict=True))
    )


def executors(*ids: str, cores: int | None = 1) -> tuple[Executor, ...]:
    return tuple(Executor(each, f"host-{each}", cores=cores) for each in ids)


def view(
    rows: Iterable[Task],
    of: Sequence[Executor] = (),
    seconds: float = 60,
    states: Sequence[Interval] = (),
) -> View:
    windows = round(seconds * 1000) // WINDOW_MS
    nothing = np.full(windows, np.nan)
    return View(
        START_MS,
        *(nothing,) * 6,
        intervals={"state": list(states)} if states else {},
        tasks=tasks(rows),
        executors=tuple(of),
    )
