"""Views of jobs with an SLO, made up from the numbers that a test is about."""

from dataclasses import replace

import numpy as np

from techniques.slo.objective import JuiceTarget, LatencyTarget, Objective
from techniques.view import Executor, Pool, Resource, ResourceKind, Sent, Tasks, View
from tests.techniques.pool.views import PER_SECOND, START_MS

FAST = Objective(LatencyTarget(100))
KEEPING_UP = Objective(juice=JuiceTarget(0.9))


def job(
    *pools: Pool,
    objective: Objective | None = FAST,
    latency_ms: float | None = 50.0,
    records_per_s: float = 1_000.0,
    backlog: tuple[float, float] | None = (0.0, 0.0),
    seconds: int = 120,
    waiting: float = 0.0,
    **changes: object,
) -> View:
    """`backlog` rises evenly from the first number to the second; without records, every window's
    percentiles are unknown."""
    windows = seconds * PER_SECOND
    records = np.full(windows, records_per_s / PER_SECOND)
    told = np.full(windows, np.nan if latency_ms is None or not records_per_s else latency_ms)
    made = View(
        START_MS,
        records,
        told / 2,
        told,
        told * 2,
        np.full(windows, np.nan) if backlog is None else np.linspace(*backlog, windows),
        np.full(windows, waiting),
        pools=pools,
        objective=objective,
        objective_ms=latency_ms,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def chain(made: Pool, pairs: dict[tuple[str, str], int], seconds: int = 120) -> Pool:
    """The pool with so many chunks sent a second from each instance ("" for tasks) to another."""
    rows = [
        (START_MS + second * 1_000.0, source, target, chunks)
        for second in range(seconds)
        for (source, target), chunks in pairs.items()
    ]
    columns = list(zip(*rows, strict=True))
    sent = Sent(
        np.array(columns[0]),
        np.array(columns[1], dtype=object),
        np.array(columns[2], dtype=object),
        np.array(columns[3], dtype=np.int64),
    )
    return replace(made, sent=sent)


def tasks(per_executor: dict[str, float], seconds: int = 120) -> Tasks:
    """Each executor has one task after the other that fills this share of every second."""
    rows = [
        (START_MS + second * 1_000.0, START_MS + (second + share) * 1_000.0, executor)
        for second in range(seconds)
        for executor, share in per_executor.items()
    ]
    none = Tasks.none()
    count = len(rows)
    filler = {
        name: np.zeros(count, dtype=getattr(none, name).dtype) for name in none.__dataclass_fields__
    }
    return Tasks(
        **{
            **filler,
            "start_ms": np.array([row[0] for row in rows]),
            "end_ms": np.array([row[1] for row in rows]),
            "executor": np.array([row[2] for row in rows], dtype=object),
        }
    )


def on_spark(shares: dict[str, float], cores: int = 4, **changes: object) -> View:
    """A job without pools, whose tasks fill these shares of one core of each executor."""
    executors = tuple(Executor(name, f"host-{name}", cores=cores) for name in shares)
    return job(tasks=tasks(shares), executors=executors, cores=cores, **changes)  # type: ignore[arg-type]


def crowded(view: View, host: str, queue: float) -> View:
    used = {Resource(ResourceKind.RUN_QUEUE, host): np.full(len(view), queue)}
    return replace(view, use={**view.use, **used}, cores=4)
