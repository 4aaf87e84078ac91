"""Turns task events into the scheduler's part of a window. Pure: time comes with the messages.

`close(window)` is called once per window, in rising order, about 200 ms after the window's end.
Tasks running and waiting are worked out from launch and finish times, so a task that came and went
within the window is seen. A task is counted as finished once: in the window of its finish, or,
where we heard of it after that window had closed, in the next.

Finished things are forgotten: a task with the window of its finish, a stage with that of its
completion, a query when `forget` is called.
"""

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from collectors.formats.activity import Activity, Kind, TaskFacts
from collectors.formats.buckets import Histogram
from collectors.formats.wire import WINDOW_MS
from collectors.process.events.task_messages import (
    ExecutorChange,
    Stage,
    StageWait,
    TaskRecord,
    Tasks,
    Traffic,
)

# Above this rate, only the slowest tasks of each window are shown.
FEW_TASKS_PER_S = 200
WINDOWS_PER_S = 1000 // WINDOW_MS
# Limit of finished tasks, stages or matrices not in a window yet: minutes of a stalled collector.
MOST_FINISHED = 100_000
MOST_STAGES = 4096
MOST_TRAFFIC = 1024

T = TypeVar("T")


@dataclass(frozen=True)
class Running:
    """The most tasks of one stage that ran at once on one executor in one window."""

    executor_id: str
    stage_id: int
    tasks: int


@dataclass(frozen=True)
class Waiting:
    """Tasks of a stage waiting for a slot at the window's end, and their waiting time summed."""

    stage_id: int
    tasks: int
    waited_ms: int


@dataclass(frozen=True)
class QueryTasks:
    """The tasks of one query in one window."""

    running: tuple[Running, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    finished: int = 0
    failed: int = 0
    durations: Histogram = field(default_factory=Histogram)
    speculative: int = 0
    locality_misses: int = 0
    traffic: tuple[Traffic, ...] = ()
    activities: tuple[Activity, ...] = ()


@dataclass(frozen=True)
class Scheduled:
    """One window: tasks by query id ("" = no streaming query), and executors added or removed."""

    queries: Mapping[str, QueryTasks] = field(default_factory=dict)
    executors: tuple[ExecutorChange, ...] = ()

    def of(self, query_id: str) -> QueryTasks:
        return self.queries.get(query_id, QueryTasks())


@dataclass
class _Stage:
    wait: StageWait
    running: dict[int, TaskRecord] = field(default_factory=dict)
    # First attempts: number launched in closed windows, and launch times of those since then.
    launched: int = 0
    launches_ms: list[int] = field(default_factory=list)


class Scheduling:
    def __init__(self) -> None:
        self._stages: dict[Stage, _Stage] = {}
        self._finished: list[TaskRecord] = []
        self._traffic: list[Traffic] = []
        self._changes: list[ExecutorChange] = []
        self._rates: dict[str, deque[int]] = {}
        self._lost_events = 0
        self._forgotten = 0

    @property
    def lost_events(self) -> int:
        """Events lost by the probe and here since the start."""
        return self._lost_events + self._forgotten

    def add_tasks(self, told: Tasks) -> None:
        self._lost_events = told.lost_events
        for wait in told.stages:
            self._stages.setdefault(wait.stage, _Stage(wait)).wait = wait
        for record in told.records:
            self._add(record)
        for wait in told.stages:
            self._believe(self._stages[wait.stage])
        while len(self._stages) > MOST_STAGES:
            del self._stages[next(iter(self._stages))]
        self._forgotten += _keep_last(self._finished, MOST_FINISHED)

    def add_executor(self, change: ExecutorChange) -> None:
        self._changes.append(change)
        _keep_last(self._changes, MOST_STAGES)

    def add_traffic(self, traffic: Traffic) -> None:
        self._traffic.append(traffic)
        _keep_last(self._traffic, MOST_TRAFFIC)

    def forget(self, query_id: str) -> None:
        """A query has ended."""
        self._stages = {s: kept for s, kept in self._stages.items() if s.query_id != query_id}
        self._finished = [t for t in self._finished if t.stage.query_id != query_id]
        self._traffic = [t for t in self._traffic if t.stage.query_id != query_id]
        self._rates.pop(query_id, None)

    def close(self, window: int) -> Scheduled:
        end_ms = (window + 1) * WINDOW_MS
        finished = _take(self._finished, lambda task: task.finish_ms < end_ms)
        traffic = _take(self._traffic, lambda each: each.completed_ms < end_ms)
        changes = _take(self._changes, lambda change: change.time_ms < end_ms)
        by_query: dict[str, list[TaskRecord]] = {}
        # Tasks in `self._finished` are known to have finished, but after this window.
        for task in [*finished, *self._finished, *self._still_running()]:
            if task.launch_ms < end_ms:
                by_query.setdefault(task.stage.query_id, []).append(task)
        waiting = self._waiting(window)
        ids = {*by_query, *waiting, *(each.stage.query_id for each in traffic), *self._rates}
        queries = {
            query_id: self._query(
                query_id, window, by_query.get(query_id, []), waiting.get(query_id, ()), traffic
            )
            for query_id in sorted(ids)
        }
        self._forget_completed(end_ms)
        return Scheduled(queries, tuple(changes))

    def _add(self, record: TaskRecord) -> None:
        stage = self._stages[record.stage]
        begun = stage.running.pop(record.task_id, None)
        if begun is None and not record.attempt:
            stage.launches_ms.append(record.launch_ms)
        if record.ended:
            self._finished.append(record)
        else:
            stage.running[record.task_id] = record

    @staticmethod
    def _believe(stage: _Stage) -> None:
        """Removes running tasks beyond the probe's count: the event of their end was lost."""
        surplus = len(stage.running) - stage.wait.running
        for task_id in list(stage.running)[: max(0, surplus)]:
            del stage.running[task_id]

    def _still_running(self) -> Iterable[TaskRecord]:
        for stage in self._stages.values():
            yield from stage.running.values()

    def _waiting(self, window: int) -> dict[str, tuple[Waiting, ...]]:
        found: dict[str, list[Waiting]] = {}
        for stage in self._stages.values():
            waiting = _waited(stage, window * WINDOW_MS, (window + 1) * WINDOW_MS)
            if waiting.tasks or waiting.waited_ms:
                found.setdefault(stage.wait.stage.query_id, []).append(waiting)
        return {query_id: tuple(each) for query_id, each in found.items()}

    def _query(
        self,
        query_id: str,
        window: int,
        tasks: list[TaskRecord],
        waiting: tuple[Waiting, ...],
        traffic: list[Traffic],
    ) -> QueryTasks:
        start_ms, end_ms = window * WINDOW_MS, (window + 1) * WINDOW_MS
        ended = [task for task in tasks if task.ended and task.finish_ms < end_ms]
        present = [task for task in tasks if not task.ended or task.finish_ms >= start_ms]
        copies = [task for task in present if task.speculative]
        return QueryTasks(
            running=_running(present, start_ms),
            waiting=waiting,
            finished=len(ended),
            failed=sum(not (task.successful or task.killed) for task in ended),
            durations=Histogram.of((t.finish_ms - t.launch_ms) * 1000 for t in ended),
            speculative=_most_at_once(copies, start_ms),
            locality_misses=sum(t.missed_its_place for t in tasks if t.launch_ms >= start_ms),
            traffic=tuple(each for each in traffic if each.stage.query_id == query_id),
            activities=tuple(map(_activity, self._shown(query_id, ended))),
        )

    def _shown(self, query_id: str, ended: list[TaskRecord]) -> list[TaskRecord]:
        rate = self._rates.setdefault(query_id, deque(maxlen=WINDOWS_PER_S))
        rate.append(len(ended))
        if not any(rate):
            del self._rates[query_id]
        if sum(rate) < FEW_TASKS_PER_S or not ended:
            return ended
        return [max(ended, key=lambda task: task.finish_ms - task.launch_ms)]

    def _forget_completed(self, end_ms: int) -> None:
        for key, stage in list(self._stages.items()):
            if 0 < stage.wait.completed_ms < end_ms:
                del self._stages[key]
            else:
                past = _take(stage.launches_ms, lambda launch_ms: launch_ms < end_ms)
                stage.launched += len(past)


def _running(tasks: Iterable[TaskRecord], start_ms: int) -> tuple[Running, ...]:
    places: dict[tuple[str, int], list[TaskRecord]] = {}
    for task in tasks:
        places.setdefault((task.executor_id, task.stage.stage_id), []).append(task)
    most = ((place, _most_at_once(there, start_ms)) for place, there in sorted(places.items()))
    return tuple(Running(*place, tasks) for place, tasks in most if tasks)


def _most_at_once(tasks: Iterable[TaskRecord], start_ms: int) -> int:
    """Returns the most tasks running at once from `start_ms` on; those below 1 ms share a slot."""
    changes: list[tuple[int, int]] = []
    most = now = 0
    for task in tasks:
        begin_ms = max(start_ms, task.launch_ms)
        if not task.ended:
            changes.append((begin_ms, 1))
        elif task.finish_ms > begin_ms:
            changes += (begin_ms, 1), (task.finish_ms, -1)
        elif task.launch_ms >= start_ms:
            most = 1
    # Sorted, an end comes before a beginning of the same millisecond: the slot changed hands.
    for _, change in sorted(changes):
        now += change
        most = max(most, now)
    return most


def _waited(stage: _Stage, start_ms: int, end_ms: int) -> Waiting:
    wait = stage.wait
    from_ms = max(start_ms, wait.submitted_ms)
    until_ms = min(end_ms, wait.completed_ms or end_ms)
    if until_ms <= from_ms:
        return Waiting(wait.stage.stage_id, 0, 0)
    heard_of = stage.launched + len(stage.launches_ms)
    # Launches whose event was lost, and failed tasks that wait for a retry.
    unheard = max(0, wait.tasks - wait.waiting - heard_of)
    again = max(0, wait.waiting - (wait.tasks - heard_of))
    launches_ms = [launch_ms for launch_ms in stage.launches_ms if launch_ms < until_ms]
    left = max(0, wait.tasks - unheard - stage.launched - len(launches_ms)) + again
    waited_ms = left * (until_ms - from_ms) + sum(max(0, ms - from_ms) for ms in launches_ms)
    still = left if until_ms == end_ms else 0
    return Waiting(wait.stage.stage_id, still, waited_ms)


def _activity(task: TaskRecord) -> Activity:
    return Activity(
        Kind.TASK,
        task.launch_ms * 1000,
        task.finish_ms * 1000,
        executor_id=task.executor_id,
        partition=task.partition,
        name=f"stage {task.stage.stage_id}",
        reason=_how_it_ended(task),
        input_bytes=task.shuffle_bytes_read,
        output_bytes=task.shuffle_bytes_written,
        task=TaskFacts(
            stage=task.stage.stage_id,
            stage_attempt=task.stage.attempt,
            attempt=task.attempt,
            locality=task.locality,
            speculative=task.speculative,
            successful=task.successful,
            stateful=task.stage.stateful,
            result=task.stage.result,
            kind=task.stage.kind,
            waited_ms=task.waited_ms,
        ),
    )


def _how_it_ended(task: TaskRecord) -> str:
    ended = "" if task.successful else "killed" if task.killed else "failed"
    return " ".join(filter(None, [ended, "speculative" if task.speculative else ""]))


def _take(items: list[T], belongs: Callable[[T], bool]) -> list[T]:
    """Removes the items that belong from the list, and returns them."""
    taken = [item for item in items if belongs(item)]
    if taken:
        items[:] = [item for item in items if not belongs(item)]
    return taken


def _keep_last(items: list[T], most: int) -> int:
    surplus = max(0, len(items) - most)
    del items[:surplus]
    return surplus
