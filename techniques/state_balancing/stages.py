"""The stages of a view with their tasks, as balancing looks at them."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import median

import numpy as np

from techniques.intervals import Ints
from techniques.view import View


@dataclass(frozen=True)
class Ran:
    """A task that succeeded. `sojourn_ms` is from the submission of its stage to its end."""

    partition: int
    executor: str
    duration_ms: float
    sojourn_ms: float


@dataclass(frozen=True)
class Stage:
    """One attempt of a stage. It is `whole` once all of its partitions are known to have ended."""

    kind: int
    stateful: bool
    start_ms: float
    end_ms: float
    tasks: tuple[Ran, ...]
    whole: bool

    @cached_property
    def usual_ms(self) -> float:
        return median(task.duration_ms for task in self.tasks)

    @cached_property
    def relative_sojourns(self) -> Mapping[str, float]:
        """For each executor, the mean sojourn of its tasks divided by the median of the stage."""
        usual_ms = median(task.sojourn_ms for task in self.tasks)
        if usual_ms <= 0:
            return {}
        by_executor: dict[str, list[float]] = {}
        for task in self.tasks:
            by_executor.setdefault(task.executor, []).append(task.sojourn_ms / usual_ms)
        return {executor: sum(each) / len(each) for executor, each in by_executor.items()}

    def finish_ms(self, executors: Iterable[str]) -> float:
        """When the last task on any of these executors ended, from the submission on."""
        among = set(executors)
        return max((task.sojourn_ms for task in self.tasks if task.executor in among), default=0.0)


def stages(view: View) -> tuple[Stage, ...]:
    """All stages, in the order of their ends."""
    return view.once(_read)


def stateful(view: View, since_ms: float = 0.0) -> list[Stage]:
    """Whole stages with state that were submitted since then. Kinds that only some batches have,
    as the first one after a restart may, are left out: they would be waited for in vain."""
    return [stage for stage in view.once(_recurring) if stage.start_ms >= since_ms]


def _recurring(view: View) -> list[Stage]:
    whole = [stage for stage in stages(view) if stage.stateful and stage.whole]
    counts = Counter(stage.kind for stage in whole)
    most = max(counts.values(), default=0)
    return [stage for stage in whole if 2 * counts[stage.kind] >= most]


def _read(view: View) -> tuple[Stage, ...]:
    tasks = view.tasks
    rows = np.flatnonzero(tasks.successful & (tasks.partition >= 0))
    by_stage: dict[tuple[int, int], list[int]] = {}
    keys = zip(tasks.stage[rows].tolist(), tasks.stage_attempt[rows].tolist(), strict=True)
    for row, key in zip(rows.tolist(), keys, strict=True):
        by_stage.setdefault(key, []).append(row)
    made = [_stage(view, np.array(each)) for each in by_stage.values()]
    made.sort(key=lambda stage: stage.end_ms)
    return tuple(_with_whole(made))


def _stage(view: View, rows: Ints) -> Stage:
    tasks = view.tasks
    start_ms, end_ms = tasks.start_ms[rows], tasks.end_ms[rows]
    submitted_ms = float(np.nanmin(np.append(start_ms - tasks.waited_ms[rows], start_ms.min())))
    ran: dict[int, Ran] = {}
    columns = (tasks.partition[rows], tasks.executor[rows], end_ms - start_ms, end_ms)
    for partition, executor, duration_ms, ended_ms in zip(
        *(column.tolist() for column in columns), strict=True
    ):
        # Of a task and its copy, the first to end is the one that counts.
        ran.setdefault(partition, Ran(partition, executor, duration_ms, ended_ms - submitted_ms))
    return Stage(
        kind=int(tasks.kind[rows[0]]),
        stateful=bool(tasks.stateful[rows].any()),
        start_ms=submitted_ms,
        end_ms=float(end_ms.max()),
        tasks=tuple(ran.values()),
        whole=False,
    )


def _with_whole(made: list[Stage]) -> list[Stage]:
    """A stage is over when a later one of its kind is known, or all the partitions are there."""
    sizes: dict[int, int] = {}
    newest: dict[int, Stage] = {}
    for stage in made:
        sizes[stage.kind] = max(sizes.get(stage.kind, 0), len(stage.tasks))
        newest[stage.kind] = stage
    return [
        replace(
            stage,
            whole=stage is not newest[stage.kind] or len(stage.tasks) == sizes[stage.kind],
        )
        for stage in made
    ]
