"""The measurements of one block, from the job's frames and activities."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from collectors.formats import buckets, metrics
from collectors.formats.activity import Activity, Kind
from collectors.formats.wire import WINDOW_MS, Batch, Frame
from techniques.detection.checkpoints import IN_PHASE_SHARE
from techniques.detection.rules.millibottleneck import SATURATED

HOST_CPU = metrics.BY_NAME["host_cpu"].id
QUANTILES = (0.95, 0.99, 0.999)

Store = tuple[int | None, int | None]
Spans = list[tuple[float, float]]


@dataclass(frozen=True)
class Stretch:
    """The micro-batches of one block, from first to last (inclusive)."""

    round: int
    arm: str
    first_batch: int
    last_batch: int
    in_step: bool = True


@dataclass(frozen=True)
class Figures:
    """`in_phase` counts compactions at checkpoints at which most stores of their stage compact."""

    round: int
    arm: str
    first_batch: int
    last_batch: int
    records: int
    p95_ms: float
    p99_ms: float
    p999_ms: float
    seconds: float
    checkpoints: int
    overlap_s: float
    saturation_s: float
    compactions: int
    in_phase: int
    compacted_mb: float
    in_step: bool


class Recorded:
    """All frames and activities of a query; returns the figures of a stretch."""

    def __init__(self, frames: Sequence[Frame], activities: Iterable[Activity]) -> None:
        self._frames = frames
        self._batches = sorted(
            (batch for frame in frames for batch in frame.batches), key=lambda each: each.batch_id
        )
        ended = sorted(activities, key=lambda each: each.start_us)
        self._flushes = [each for each in ended if each.kind == Kind.FLUSH]
        self._compactions = [each for each in ended if each.kind == Kind.COMPACTION]

    def figures(self, stretch: Stretch) -> Figures | None:
        """Returns None if no records were committed in the stretch."""
        wanted = range(stretch.first_batch, stretch.last_batch + 1)
        held = [batch for batch in self._batches if batch.batch_id in wanted]
        latency = buckets.merged(
            frame.committed
            for frame in self._frames
            if any(batch.batch_id in wanted for batch in frame.batches)
        )
        if not held or not latency.count:
            return None
        start_ms, end_ms = held[0].start_ms, held[-1].end_ms
        p95, p99, p999 = (us or 0.0 for us in latency.quantiles_us(QUANTILES))
        flushes = _within(self._flushes, start_ms, end_ms)
        compactions = _within(self._compactions, start_ms, end_ms)
        begun = [each for each in compactions if each.start_us >= start_ms * 1000]
        return Figures(
            round=stretch.round,
            arm=stretch.arm,
            first_batch=stretch.first_batch,
            last_batch=stretch.last_batch,
            records=latency.count,
            p95_ms=p95 / 1000,
            p99_ms=p99 / 1000,
            p999_ms=p999 / 1000,
            seconds=(end_ms - start_ms) / 1000,
            checkpoints=len(held),
            overlap_s=both_s(flushes, compactions, start_ms, end_ms),
            saturation_s=saturation_s(self._frames, start_ms, end_ms),
            compactions=len(begun),
            in_phase=in_phase(begun, self._flushes, self._batches),
            compacted_mb=sum(each.input_bytes or 0 for each in begun) / 1e6,
            in_step=stretch.in_step,
        )


def in_phase(
    compactions: Sequence[Activity], flushes: Sequence[Activity], batches: Sequence[Batch]
) -> int:
    """Counts the compactions at checkpoints at which most stores of their operator compact.

    A compaction belongs to the micro-batch whose flush triggered it: its store's last before it.
    Background threads are few, so the last of many may begin long after its flush.
    """
    flushed: dict[Store, list[int]] = defaultdict(list)
    for each in flushes:
        flushed[_store(each)].append(each.start_us)
    starts_us = [batch.start_ms * 1000 for batch in batches]
    together: dict[tuple[int | None, int], set[int | None]] = defaultdict(set)
    placed = []
    for each in compactions:
        own = flushed[_store(each)]
        at = bisect_right(own, each.start_us)
        if not at:
            continue
        place = (each.operator, bisect_right(starts_us, own[at - 1]))
        together[place].add(each.partition)
        placed.append(place)
    stores = defaultdict(set)
    for operator, partition in flushed:
        stores[operator].add(partition)
    return sum(
        len(together[place]) >= max(2.0, IN_PHASE_SHARE * len(stores[place[0]])) for place in placed
    )


def both_s(
    flushes: Iterable[Activity], compactions: Iterable[Activity], start_ms: float, end_ms: float
) -> float:
    """The time during which at least one flush and one compaction ran at once."""
    ones, others = (_union(each, start_ms, end_ms) for each in (flushes, compactions))
    return (
        sum(
            max(0.0, min(end, other_end) - max(start, other_start))
            for start, end in ones
            for other_start, other_end in others
        )
        / 1000
    )


def saturation_s(frames: Iterable[Frame], start_ms: float, end_ms: float) -> float:
    """The total time of windows in which some host had no CPU left."""
    full = sum(
        any(sample.metrics.get(HOST_CPU, 0) >= SATURATED * 1000 for sample in frame.executors)
        for frame in frames
        if start_ms <= frame.start_ms < end_ms
    )
    return full * WINDOW_MS / 1000


def _within(found: Iterable[Activity], start_ms: float, end_ms: float) -> list[Activity]:
    return [
        each for each in found if each.end_us > start_ms * 1000 and each.start_us < end_ms * 1000
    ]


def _union(found: Iterable[Activity], start_ms: float, end_ms: float) -> Spans:
    """The union of their times, clipped to the range, in milliseconds."""
    joined: Spans = []
    for each in sorted(found, key=lambda each: each.start_us):
        start, end = max(each.start_us / 1000, start_ms), min(each.end_us / 1000, end_ms)
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _store(each: Activity) -> Store:
    return each.operator, each.partition
