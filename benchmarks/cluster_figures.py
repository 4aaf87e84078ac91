"""What one block on a cluster measured, from the job's frames and activities; pure.

A *move* is a state partition whose task ran on another executor than the one before. Its cost is
what the first task at the new place took longer than the usual of the next ones there: that is the
time in which the state is loaded from the checkpoint. A *copy* is a task that Spark ran beside one
that runs already.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from collectors.formats import buckets
from collectors.formats.activity import Activity, Kind, TaskFacts
from collectors.formats.buckets import Histogram
from collectors.formats.wire import Frame

# Tasks after a move whose median is the usual duration.
USUAL_TASKS = 5


@dataclass(frozen=True)
class Stretch:
    """The micro-batches that count, first to last (inclusive); `asked_ms` is when the arm began."""

    round: int
    arm: str
    asked_ms: float
    first_batch: int
    last_batch: int


@dataclass(frozen=True)
class Move:
    at_ms: float
    partition: int
    from_executor: str
    to_executor: str
    cost_ms: float | None


@dataclass(frozen=True)
class Figures:
    """Batches, latencies and tasks are of the batches that count; moves are all since the arm
    began. `task_ms` is the time of all first attempts, `copy_ms` that of copies."""

    round: int
    arm: str
    batch_ms: tuple[float, ...]
    latency: Histogram
    tasks: int
    task_ms: float
    copies: int
    copies_won: int
    copy_ms: float
    moves: tuple[Move, ...]
    asked_ms: float

    @property
    def settle_s(self) -> float | None:
        """From the begin of the arm to its last move."""
        return (self.moves[-1].at_ms - self.asked_ms) / 1000 if self.moves else None


class Recorded:
    """All frames and activities of a query; returns the figures of a stretch."""

    def __init__(self, frames: Sequence[Frame], activities: Iterable[Activity]) -> None:
        self._frames = frames
        self._tasks = sorted(
            (
                (each, each.task)
                for each in activities
                if each.kind == Kind.TASK and each.task is not None
            ),
            key=lambda pair: pair[0].start_us,
        )

    def figures(self, stretch: Stretch) -> Figures | None:
        """Returns None if no batch of the stretch is known."""
        wanted = range(stretch.first_batch, stretch.last_batch + 1)
        told = [
            frame
            for frame in self._frames
            if any(batch.batch_id in wanted for batch in frame.batches)
        ]
        held = [batch for frame in told for batch in frame.batches if batch.batch_id in wanted]
        if not held:
            return None
        start_ms = min(batch.start_ms for batch in held)
        end_ms = max(batch.end_ms for batch in held)
        inside = [
            (each, task) for each, task in self._tasks if start_ms <= each.start_us / 1000 < end_ms
        ]
        copies = [(each, task) for each, task in inside if task.speculative]
        return Figures(
            round=stretch.round,
            arm=stretch.arm,
            batch_ms=tuple(float(batch.duration_ms) for batch in held),
            latency=buckets.merged(frame.committed for frame in told),
            tasks=len(inside) - len(copies),
            task_ms=sum(_took_ms(each) for each, task in inside if not task.speculative),
            copies=len(copies),
            copies_won=sum(task.successful for _, task in copies),
            copy_ms=sum(_took_ms(each) for each, _ in copies),
            moves=tuple(
                move for move in moves(self._tasks) if stretch.asked_ms <= move.at_ms < end_ms
            ),
            asked_ms=stretch.asked_ms,
        )


def moves(tasks: Iterable[tuple[Activity, TaskFacts]]) -> list[Move]:
    """The moves of all state partitions, in the order of time. Of several attempts of a task only
    the one that finished counts."""
    by_partition: dict[int, list[Activity]] = defaultdict(list)
    for each, task in tasks:
        if task.stateful and task.successful and each.partition is not None:
            by_partition[each.partition].append(each)
    found = [move for partition, ran in by_partition.items() for move in _moves_of(partition, ran)]
    return sorted(found, key=lambda move: move.at_ms)


def _moves_of(partition: int, ran: Sequence[Activity]) -> Iterator[Move]:
    for at, (before, first) in enumerate(pairwise(ran), 1):
        if before.executor_id == first.executor_id:
            continue
        there = _stayed(ran[at:])[1 : USUAL_TASKS + 1]
        usual_ms = median(map(_took_ms, there)) if there else None
        yield Move(
            at_ms=first.start_us / 1000,
            partition=partition,
            from_executor=before.executor_id,
            to_executor=first.executor_id,
            cost_ms=None if usual_ms is None else _took_ms(first) - usual_ms,
        )


def _stayed(ran: Sequence[Activity]) -> Sequence[Activity]:
    """The tasks up to the next move."""
    gone = (at for at, each in enumerate(ran) if each.executor_id != ran[0].executor_id)
    return ran[: next(gone, len(ran))]


def _took_ms(each: Activity) -> float:
    return (each.end_us - each.start_us) / 1000
