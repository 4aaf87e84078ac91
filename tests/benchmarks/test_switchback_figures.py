"""What a block shows, from made-up and from recorded runs."""

from itertools import pairwise
from uuid import UUID

import pytest

from benchmarks.switchback.figures import (
    HOST_CPU,
    Recorded,
    Stretch,
    both_s,
    in_phase,
    saturation_s,
)
from collectors.formats import activity
from collectors.formats.activity import Activity, Kind
from collectors.formats.buckets import Histogram
from collectors.formats.wire import Batch, ExecutorSample, Frame, decode
from tests.techniques.detection import recorded

RUN = UUID(int=1)
START_MS = 1_000_000
STORES = [(operator, partition) for operator in (0, 1) for partition in range(4)]


def made(
    kind: Kind, start_ms: float, end_ms: float, operator: int = 0, partition: int = 0
) -> Activity:
    return Activity(
        kind,
        round(start_ms * 1000),
        round(end_ms * 1000),
        operator=operator,
        partition=partition,
        input_bytes=2_000_000,
    )


def batch(number: int, duration_ms: int = 600) -> Batch:
    return Batch(number, START_MS + number * 1000, duration_ms, 400)


def compactions(period: dict[tuple[int, int], int], batches: int) -> list[Activity]:
    """Each store flushes in every batch and compacts in every so many."""
    found = []
    for number in range(batches):
        for at, (operator, partition) in enumerate(STORES):
            flush_ms = START_MS + number * 1000 + 200 + at * 20
            found.append(made(Kind.FLUSH, flush_ms, flush_ms + 5, operator, partition))
            if (number + 1) % period[operator, partition] == 0:
                found.append(
                    made(Kind.COMPACTION, flush_ms + 6, flush_ms + 60, operator, partition)
                )
    return found


def split(found: list[Activity]) -> tuple[list[Activity], list[Activity]]:
    return (
        [each for each in found if each.kind == Kind.COMPACTION],
        [each for each in found if each.kind == Kind.FLUSH],
    )


def test_stores_with_the_same_period_compact_in_phase() -> None:
    compacted, flushed = split(compactions(dict.fromkeys(STORES, 4), 12))

    assert len(compacted) == 24
    assert in_phase(compacted, flushed, [batch(number) for number in range(12)]) == 24


def test_stores_with_thresholds_of_their_own_do_not() -> None:
    apart = {store: 4 + store[1] for store in STORES}
    compacted, flushed = split(compactions(apart, 12))

    assert in_phase(compacted, flushed, [batch(number) for number in range(12)]) == 0


def test_of_two_stages_each_is_in_phase_by_itself() -> None:
    half = {store: 4 if store[0] == 0 else 4 + store[1] for store in STORES}
    compacted, flushed = split(compactions(half, 12))
    in_first = [each for each in compacted if each.operator == 0]

    found = in_phase(compacted, flushed, [batch(number) for number in range(12)])
    assert found == len(in_first)


def test_a_compaction_that_waits_for_a_thread_is_of_the_flush_that_set_it_off() -> None:
    compacted, flushed = split(compactions(dict.fromkeys(STORES, 4), 4))
    late = [
        made(Kind.COMPACTION, START_MS + 4_010 + at * 10, START_MS + 4_100, *store)
        for at, store in enumerate(STORES)
    ]

    assert in_phase(late, flushed, [batch(number) for number in range(6)]) == len(STORES)
    assert len(compacted) == len(late)


def test_overlap_is_the_time_in_which_some_of_each_run_and_counts_once() -> None:
    flushes = [made(Kind.FLUSH, 100, 200), made(Kind.FLUSH, 150, 250, partition=1)]
    compacting = [
        made(Kind.COMPACTION, 180, 400),
        made(Kind.COMPACTION, 190, 300, partition=1),
        made(Kind.COMPACTION, 500, 600),
    ]

    assert both_s(flushes, compacting, 0, 1_000) == pytest.approx(0.070)
    assert both_s(flushes, compacting, 0, 200) == pytest.approx(0.020)
    assert both_s(flushes, [], 0, 1_000) == 0


def frame(window_ms: int, cpu: float = 0.5, **what: object) -> Frame:
    sample = ExecutorSample("driver", "here", {HOST_CPU: round(cpu * 1000)})
    return Frame(window_ms // 50, 0, RUN, executors=(sample,), **what)  # type: ignore[arg-type]


def test_saturation_is_the_windows_without_any_cpu_left() -> None:
    frames = [frame(START_MS + at * 50, cpu) for at, cpu in enumerate((0.5, 0.97, 1.0, 0.96, 1.0))]

    assert saturation_s(frames, START_MS, START_MS + 200) == pytest.approx(0.1)


def test_a_block_has_the_latencies_of_its_own_batches_only() -> None:
    slow = {2: 900_000, 3: 500_000, 4: 400_000, 5: 2_000_000}
    frames = [
        frame(
            batch(number).end_ms,
            batches=(batch(number),),
            committed=Histogram.of([us] * 100),
        )
        for number, us in slow.items()
    ]
    found = Recorded(frames, compactions(dict.fromkeys(STORES, 4), 8)).figures(
        Stretch(round=1, arm="off", first_batch=3, last_batch=4)
    )

    assert found is not None
    assert (found.records, found.checkpoints, found.round, found.arm) == (200, 2, 1, "off")
    assert found.p95_ms == pytest.approx(500, rel=0.01)
    assert found.seconds == pytest.approx(1.6)
    assert found.compactions == found.in_phase == len(STORES)
    assert found.compacted_mb == pytest.approx(2 * len(STORES))


def test_a_block_without_records_has_no_figures() -> None:
    assert Recorded([], []).figures(Stretch(0, "off", 0, 5)) is None


@pytest.mark.parametrize(("setting", "together"), [("scheduled", 0.9), ("statistical", 0.9)])
def test_a_recorded_run_compacts_in_phase(setting: str, together: float) -> None:
    frames: list[Frame] = []
    ended: list[Activity] = []
    for second in recorded.seconds(setting):
        frames += [decode(entry.payload) for entry in second.get(recorded.STREAMS[0], [])]
        for entry in second.get(recorded.STREAMS[1], []):
            ended += activity.decode(entry.payload)
    held = Recorded(frames, ended)
    last = max(batch.batch_id for frame in frames for batch in frame.batches)
    # The fleet registers first; then two cycles of compactions each.
    edges = range(12, last + 1, 8)
    blocks = [held.figures(Stretch(0, "off", first, after - 1)) for first, after in pairwise(edges)]

    assert blocks
    for found in blocks:
        assert found is not None
        assert found.checkpoints == 8
        assert found.records > 8 * 100
        assert 0 < found.p95_ms <= found.p99_ms <= found.p999_ms < 20_000
        assert found.in_phase >= together * found.compactions > 0
        assert found.overlap_s > 0
