"""Assembles frames, one per job and 50 ms window, from the messages of executors and driver.

Time is an argument. A window closes 200 ms after its end. What comes later is merged into the next
open window where it is a fact about a batch or an interval, and counted as late where it is a
sample: a percentile of a window that is already on the stream cannot change. So a record is in the
frames once, or it is counted as lost.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple
from uuid import UUID

from collectors.formats.activity import Activity, Kind
from collectors.formats.buckets import Histogram, merged
from collectors.formats.codec import Garbled
from collectors.formats.metrics import BY_NAME
from collectors.formats.parts import Event, EventSource, Losses, Part, TaskLatencies, UsedPool
from collectors.formats.slots import ExecutorSlots
from collectors.formats.state_sizes import StateSize
from collectors.formats.wire import (
    WINDOW_MS,
    Batch,
    ExecutorSample,
    Frame,
    Health,
    OperatorState,
    Shuffled,
    TaskCounts,
)
from collectors.process import pool_windows
from collectors.process.committed import Uncommitted
from collectors.process.events import batch_phases, gc_pauses
from collectors.process.events.heavy_keys import HeavyKeys
from collectors.process.events.progress import Progress
from collectors.process.events.scheduling import QueryTasks, Scheduling
from collectors.process.events.state_store import Finished, Lane, StateStores
from collectors.process.events.task_messages import ExecutorChange, Tasks, Traffic
from collectors.process.facts import Facts
from collectors.process.lag import LagTracker
from collectors.process.seldom import SeldomMetrics
from collectors.process.warm_up import WarmUp

CLOCK_AHEAD = BY_NAME["clock_ahead_us"].id

CLOSES_AFTER_MS = 200
# After a stall of the collector, at most this many missed windows are made; the rest are skipped.
MOST_WINDOWS_AT_ONCE = 400
# How far an executor's clock may be ahead; a part whose window is further ahead is rejected.
FUTURE_MS = 5_000
# Limit for one window of one job; more are dropped and counted.
MOST_ACTIVITIES = 2_000
# What changes slowly (the sink, slots, sizes of state, lag, memory) is in one frame a second.
RARE_EVERY_WINDOWS = 1_000 // WINDOW_MS
# What only the executor does that has the partition now. Where it was before, Spark keeps the store
# open for a while, compacts it and uploads its last snapshot; the size of that one is not told.
USES_THE_STORE = frozenset((Kind.COMMIT, Kind.FLUSH))


@dataclass(frozen=True)
class Running:
    """A running query, with its job and its run."""

    query_id: str
    run_id: str
    job_id: str
    started_ms: int = 0


class Closed(NamedTuple):
    """The content of one closed window of one job."""

    job_id: str
    frame: Frame
    activities: tuple[Activity, ...]


@dataclass
class _Window:
    executors: dict[str, ExecutorSample] = field(default_factory=dict)
    latencies: dict[str, list[Histogram]] = field(default_factory=dict)
    batches: dict[str, list[Batch]] = field(default_factory=dict)
    pools: list[UsedPool] = field(default_factory=list)


@dataclass
class _Job:
    running: Running
    sequence: int = 0
    last_window: int | None = None
    late_parts: int = 0
    skipped_windows: int = 0
    late_records: int = 0
    backlog_rows: int | None = None
    stamped: bool = False
    sink: str = ""
    state_sizes: tuple[StateSize, ...] = ()
    lag: LagTracker = field(default_factory=LagTracker)
    ended: list[Activity] = field(default_factory=list)
    uncommitted: Uncommitted = field(default_factory=Uncommitted)
    warm_up: WarmUp = field(init=False)

    def __post_init__(self) -> None:
        self.warm_up = WarmUp(self.running.started_ms)


class Assembler:
    def __init__(self, now_ms: int, facts: Facts | None = None) -> None:
        self._facts = facts or Facts()
        self._next_window = now_ms // WINDOW_MS
        self._windows: dict[int, _Window] = {}
        self._jobs: dict[str, _Job] = {}
        self._over: list[str] = []
        self._losses: dict[str, Losses] = {}
        self._lost_on_link = 0
        self._lost_activities = 0
        self._unreadable_events = 0
        self._stores = StateStores()
        self._scheduling = Scheduling()
        self._slots: dict[str, ExecutorSlots] = {}
        self._heavy_keys = HeavyKeys()
        self._seldom = SeldomMetrics()

    def start(self, running: Running) -> bool:
        """Returns False if the run is already known: a new collector is told of all runs again."""
        if before := self._jobs.get(running.query_id):
            if before.running == running:
                return False
            self._stores.forget_run(before.running.run_id)
        self._jobs[running.query_id] = _Job(running)
        return True

    def terminate(self, query_id: str, run_id: str, now_ms: int) -> None:
        """Ends a run. Windows up to now still get frames: the last batch is in one of them."""
        job = self._jobs.get(query_id)
        if job and job.running.run_id == run_id:
            job.last_window = now_ms // WINDOW_MS

    def over(self) -> list[str]:
        """Returns the runs whose last window has closed since the previous call."""
        over, self._over = self._over, []
        return over

    def lost_on_link(self, total: int) -> None:
        self._lost_on_link = total

    def add_part(self, part: Part, now_ms: int) -> None:
        self._losses[part.executor_id] = part.losses
        metrics = self._seldom.take(part.executor_id, part.window, part.metrics)
        if self._is_open(part.window, now_ms):
            window = self._window(part.window)
            window.executors[part.executor_id] = ExecutorSample(
                part.executor_id, part.host, metrics
            )
            window.pools += part.pools
        else:
            for late in self._jobs.values():
                late.late_parts += 1
        for latencies in part.latencies:
            if job := self._jobs.get(latencies.query_id):
                job.stamped = True
            if self._is_open(latencies.window, now_ms):
                window = self._window(latencies.window)
                window.latencies.setdefault(latencies.query_id, []).append(latencies.histogram)
            elif job:
                job.late_parts += 1
                job.late_records += latencies.histogram.count
        for task in part.tasks:
            self._hold(task)
        ahead_us = part.metrics.get(CLOCK_AHEAD, 0)
        for event in part.events:
            self._hear(part.executor_id, event, ahead_us)

    def add_progress(self, progress: Progress, now_ms: int) -> None:
        job = self._jobs.get(progress.query_id)
        if not job or job.running.run_id != progress.run_id:
            return
        if progress.backlog_rows is not None:
            job.backlog_rows = progress.backlog_rows
        if progress.sink:
            job.sink = progress.sink
            self._facts.sink(progress.run_id, progress.sink)
        if progress.state_sizes:
            job.state_sizes = progress.state_sizes
        job.lag.add(progress)
        if progress.batch:
            ended = progress.batch.end_ms // WINDOW_MS
            window = max(self._next_window, min(ended, now_ms // WINDOW_MS))
            batches = self._window(window).batches
            batches.setdefault(progress.query_id, []).append(progress.batch)
            self._keep(job, *batch_phases.phases(progress.batch))

    def add_tasks(self, tasks: Tasks) -> None:
        self._scheduling.add_tasks(tasks)

    def add_traffic(self, traffic: Traffic) -> None:
        self._scheduling.add_traffic(traffic)

    def add_executor(self, change: ExecutorChange) -> None:
        self._scheduling.add_executor(change)
        if change.joined:
            slots = ExecutorSlots(change.executor_id, change.cores, change.leaving)
            self._slots[change.executor_id] = slots
        else:
            self._slots.pop(change.executor_id, None)
            self._stores.forget_executor(change.executor_id)
            self._seldom.forget(change.executor_id)

    def close(
        self, now_ms: int, dropped_frames: int, unreadable_messages: int = 0
    ) -> Iterator[Closed]:
        """Closes all windows that ended 200 ms ago or more, oldest first."""
        lost = self._lost(dropped_frames, unreadable_messages)
        last = (now_ms - CLOSES_AFTER_MS) // WINDOW_MS - 1
        if last - self._next_window >= MOST_WINDOWS_AT_ONCE:
            self._skip_to(last - MOST_WINDOWS_AT_ONCE + 1)
        while self._next_window <= last:
            yield from self._close(self._next_window, lost)
            self._next_window += 1
            self._forget_ended()

    def _close(self, number: int, lost: Health) -> Iterator[Closed]:
        window = self._windows.pop(number, _Window())
        start_us = number * WINDOW_MS * 1000
        at_once = self._stores.most_at_once(start_us, start_us + WINDOW_MS * 1000)
        scheduled = self._scheduling.close(number)
        pools = pool_windows.joined(window.pools)
        for job in self._jobs.values():
            tasks = scheduled.of(job.running.query_id)
            self._keep(job, *tasks.activities)
            frame = self._frame(number, window, job, pools)
            frame = replace(
                frame,
                health=replace(
                    lost,
                    late_parts=job.late_parts,
                    lost_records=(
                        lost.lost_records + job.late_records + job.uncommitted.lost_records
                    ),
                    skipped_windows=job.skipped_windows,
                ),
                state=self._state(job.running.run_id, at_once),
                tasks=_counts(tasks),
                traffic=_traffic(tasks),
                heavy_keys=self._heavy_keys.of(job.running.query_id, number),
            )
            ended, job.ended = tuple(job.ended), []
            yield Closed(job.running.job_id, frame, ended)
            job.sequence += 1

    def _frame(self, number: int, window: _Window, job: _Job, pools: tuple[UsedPool, ...]) -> Frame:
        query_id = job.running.query_id
        batches = tuple(window.batches.get(query_id, ()))
        start_ms = number * WINDOW_MS
        for batch in batches:
            # The window that shows a run to be steady is the last of its warm-up.
            job.warm_up.add(batch.duration_ms, start_ms + WINDOW_MS)
        with_rare = number % RARE_EVERY_WINDOWS == 0
        return Frame(
            window=number,
            sequence=job.sequence,
            run_id=UUID(job.running.run_id),
            latency=merged(window.latencies.get(query_id, ())),
            batches=batches,
            executors=tuple(self._samples(number, window, with_rare)),
            backlog_rows=job.backlog_rows,
            stamped=job.stamped,
            committed=job.uncommitted.commit(batches),
            pools=pool_windows.used_by(query_id, pools),
            warming_up=not job.warm_up.is_over(start_ms),
            sink=job.sink if with_rare else "",
            slots=tuple(self._slots.values()) if with_rare else (),
            state_sizes=job.state_sizes if with_rare else (),
            lag=job.lag.at(start_ms + WINDOW_MS) if with_rare else None,
        )

    def _samples(self, number: int, window: _Window, with_rare: bool) -> Iterator[ExecutorSample]:
        for id_ in sorted(window.executors):
            sample = window.executors[id_]
            if with_rare and (seldom := self._seldom.of(id_, number)):
                sample = replace(sample, metrics={**sample.metrics, **seldom})
            yield sample

    def _hold(self, task: TaskLatencies) -> None:
        job = self._jobs.get(task.query_id)
        if not job:
            return
        # After a failure a new run repeats the same batch; do not mix in the failed run's counts.
        is_of_this_run = task.reference_us >= job.running.started_ms * 1000
        if not is_of_this_run or not job.uncommitted.add(task):
            job.late_parts += 1

    def _hear(self, executor_id: str, event: Event, ahead_us: int) -> None:
        try:
            if event.source == EventSource.GC:
                pause = gc_pauses.pause(event, executor_id)
                # A GC pause stops everything on that executor, so it counts for every query.
                for job in self._jobs.values():
                    self._keep(job, pause)
            elif event.source == EventSource.LEVERS:
                return  # for the control agent
            elif event.source == EventSource.HEAVY_KEYS:
                if event.context in self._jobs:
                    self._heavy_keys.hear(event, self._next_window)
            elif finished := self._stores.read(executor_id, event, ahead_us):
                self._hear_of_store(executor_id, finished)
        except Garbled:
            self._unreadable_events += 1

    def _hear_of_store(self, executor_id: str, finished: Finished) -> None:
        store, kind = finished.store, finished.activity.kind
        place = (store.run_id, store.operator, store.partition)
        if kind in USES_THE_STORE:
            self._facts.partition(*place, executor_id)
        elif kind is Kind.STATE and self._facts.place_of(*place) not in (None, executor_id):
            return
        for job in self._jobs.values():
            if job.running.run_id == store.run_id:
                self._keep(job, finished.activity)

    def _keep(self, job: _Job, *activities: Activity) -> None:
        room = MOST_ACTIVITIES - len(job.ended)
        job.ended += activities[:room]
        self._lost_activities += max(0, len(activities) - room)

    def _state(self, run_id: str, at_once: dict[Lane, int]) -> tuple[OperatorState, ...]:
        fullest: dict[int, int] = {}
        for (run, operator, _), files in self._stores.l0_files().items():
            if run == run_id:
                fullest[operator] = max(files, fullest.get(operator, 0))
        busy = {lane.operator for lane in at_once if lane.run_id == run_id}
        return tuple(
            OperatorState(
                operator,
                flushes=at_once.get(Lane(run_id, operator, Kind.FLUSH), 0),
                compactions=at_once.get(Lane(run_id, operator, Kind.COMPACTION), 0),
                l0_files=fullest.get(operator),
            )
            for operator in sorted(busy | fullest.keys())
        )

    def _lost(self, dropped_frames: int, unreadable_messages: int) -> Health:
        losses = self._losses.values()
        return Health(
            dropped_frames=dropped_frames,
            lost_parts=self._lost_on_link + sum(loss.parts for loss in losses),
            lost_records=sum(loss.records for loss in losses),
            lost_events=self._lost_activities
            + self._scheduling.lost_events
            + sum(loss.events for loss in losses),
            unreadable_messages=unreadable_messages + self._unreadable_events,
        )

    def _forget_ended(self) -> None:
        for query_id, job in list(self._jobs.items()):
            if job.last_window is not None and job.last_window < self._next_window:
                self._over.append(job.running.run_id)
                self._stores.forget_run(job.running.run_id)
                self._scheduling.forget(query_id)
                self._heavy_keys.forget(query_id)
                del self._jobs[query_id]

    def _skip_to(self, window: int) -> None:
        """Skips windows after a stall: counts what is lost, and moves their batches to `window`."""
        before = [self._windows.pop(at) for at in sorted(self._windows) if at < window]
        kept = self._window(window).batches
        for query_id, job in self._jobs.items():
            job.sequence += window - self._next_window
            job.skipped_windows += window - self._next_window
            late = [each for skipped in before for each in skipped.latencies.get(query_id, ())]
            job.late_parts += len(late) + sum(len(skipped.executors) for skipped in before)
            job.late_records += merged(late).count
            ended = [batch for skipped in before for batch in skipped.batches.get(query_id, ())]
            kept[query_id] = ended + kept.get(query_id, [])
        self._next_window = window

    def _is_open(self, window: int, now_ms: int) -> bool:
        return self._next_window <= window <= (now_ms + FUTURE_MS) // WINDOW_MS

    def _window(self, number: int) -> _Window:
        return self._windows.setdefault(number, _Window())


def _counts(tasks: QueryTasks) -> TaskCounts:
    return TaskCounts(
        running=sum(each.tasks for each in tasks.running),
        waiting=sum(each.tasks for each in tasks.waiting),
        finished=tasks.finished,
        failed=tasks.failed,
        speculative=tasks.speculative,
        locality_misses=tasks.locality_misses,
    )


def _traffic(tasks: QueryTasks) -> tuple[Shuffled, ...]:
    between: dict[tuple[str, str], int] = {}
    for stage in tasks.traffic:
        for flow in stage.flows:
            pair = (flow.from_executor, flow.to_executor)
            between[pair] = between.get(pair, 0) + flow.shuffle_bytes
    return tuple(Shuffled(*pair, size) for pair, size in sorted(between.items()))
