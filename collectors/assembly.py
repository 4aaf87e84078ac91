"""From parts and progress events to frames, one per job and 50 ms window. Time is an argument.

A window closes 200 ms after its end. What comes later is merged into the next open window where
it is a fact about a batch, and counted as late where it is a sample: a percentile of a window that
is already on the stream cannot change.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from uuid import UUID

from collectors.buckets import Histogram, merged
from collectors.parts import Losses, Part
from collectors.progress import Progress
from collectors.wire import WINDOW_MS, Batch, ExecutorSample, Frame, Health

CLOSES_AFTER_MS = 200
# After a stall of the collector the windows in between are made up to this many, then skipped.
MOST_WINDOWS_AT_ONCE = 400
# What an executor's clock may be ahead; beyond that a part's window is not to be believed.
FUTURE_MS = 5_000


@dataclass(frozen=True)
class Running:
    """A query that runs: which job it is, and under which run."""

    query_id: str
    run_id: str
    job_id: str


@dataclass
class _Window:
    executors: dict[str, ExecutorSample] = field(default_factory=dict)
    latencies: dict[str, list[Histogram]] = field(default_factory=dict)
    batches: dict[str, list[Batch]] = field(default_factory=dict)


@dataclass
class _Job:
    running: Running
    sequence: int = 0
    last_window: int | None = None
    late_parts: int = 0
    backlog_rows: int | None = None
    stamped: bool = False


class Assembler:
    def __init__(self, now_ms: int) -> None:
        self._next_window = now_ms // WINDOW_MS
        self._windows: dict[int, _Window] = {}
        self._jobs: dict[str, _Job] = {}
        self._losses: dict[str, Losses] = {}
        self._lost_on_link = 0

    def start(self, running: Running) -> None:
        self._jobs[running.query_id] = _Job(running)

    def terminate(self, query_id: str, run_id: str, now_ms: int) -> None:
        """The windows up to now still get their frames: the last batch is in one of them."""
        job = self._jobs.get(query_id)
        if job and job.running.run_id == run_id:
            job.last_window = now_ms // WINDOW_MS

    def lost_on_link(self, total: int) -> None:
        self._lost_on_link = total

    def add_part(self, part: Part, now_ms: int) -> None:
        self._losses[part.executor_id] = part.losses
        if self._is_open(part.window, now_ms):
            self._window(part.window).executors[part.executor_id] = ExecutorSample(
                part.executor_id, part.host, part.metrics
            )
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

    def add_progress(self, progress: Progress, now_ms: int) -> None:
        job = self._jobs.get(progress.query_id)
        if not job or job.running.run_id != progress.run_id:
            return
        if progress.backlog_rows is not None:
            job.backlog_rows = progress.backlog_rows
        if progress.batch:
            ended = progress.batch.end_ms // WINDOW_MS
            window = max(self._next_window, min(ended, now_ms // WINDOW_MS))
            batches = self._window(window).batches
            batches.setdefault(progress.query_id, []).append(progress.batch)

    def close(
        self, now_ms: int, dropped_frames: int, unreadable_messages: int = 0
    ) -> Iterator[tuple[str, Frame]]:
        """The frames of all windows that ended 200 ms ago or more, oldest first."""
        lost = self._lost(dropped_frames, unreadable_messages)
        last = (now_ms - CLOSES_AFTER_MS) // WINDOW_MS - 1
        if last - self._next_window >= MOST_WINDOWS_AT_ONCE:
            self._skip_to(last - MOST_WINDOWS_AT_ONCE + 1)
        while self._next_window <= last:
            window = self._windows.pop(self._next_window, _Window())
            for job in self._jobs.values():
                yield job.running.job_id, self._frame(self._next_window, window, job, lost)
                job.sequence += 1
            self._next_window += 1
            self._forget_ended()

    def _forget_ended(self) -> None:
        for query_id, job in list(self._jobs.items()):
            if job.last_window is not None and job.last_window < self._next_window:
                del self._jobs[query_id]

    def _skip_to(self, window: int) -> None:
        for job in self._jobs.values():
            job.sequence += window - self._next_window
        for skipped in [w for w in self._windows if w < window]:
            del self._windows[skipped]
        self._next_window = window

    def _lost(self, dropped_frames: int, unreadable_messages: int) -> Health:
        losses = self._losses.values()
        return Health(
            dropped_frames=dropped_frames,
            lost_parts=self._lost_on_link + sum(loss.parts for loss in losses),
            lost_records=sum(loss.records for loss in losses),
            lost_events=sum(loss.events for loss in losses),
            unreadable_messages=unreadable_messages,
        )

    def _frame(self, number: int, window: _Window, job: _Job, lost: Health) -> Frame:
        query_id = job.running.query_id
        return Frame(
            window=number,
            sequence=job.sequence,
            run_id=UUID(job.running.run_id),
            latency=merged(window.latencies.get(query_id, ())),
            batches=tuple(window.batches.get(query_id, ())),
            executors=tuple(window.executors[id_] for id_ in sorted(window.executors)),
            health=replace(lost, late_parts=job.late_parts),
            backlog_rows=job.backlog_rows,
            stamped=job.stamped,
        )

    def _is_open(self, window: int, now_ms: int) -> bool:
        return self._next_window <= window <= (now_ms + FUTURE_MS) // WINDOW_MS

    def _window(self, number: int) -> _Window:
        return self._windows.setdefault(number, _Window())
