import pytest

from collectors.formats.activity import Activity, Kind
from collectors.formats.buckets import Histogram, merged
from collectors.formats.coarse_buckets import Tally
from collectors.formats.collector_load import CollectorLoad
from collectors.formats.latency import Source
from collectors.formats.pulse import BIN_MS, MOST_BINS, Pulse, Recent
from collectors.formats.wire import WINDOW_MS, Batch, Frame, Health, TaskCounts
from collectors.process.pulse_taker import PulseTaker
from tests.factories import START_MS, frame

PER_BIN = BIN_MS // WINDOW_MS
NOTHING = Histogram()


def taken(*frames: Frame) -> Pulse:
    taker = PulseTaker()
    for each in frames:
        taker.add(each, NOTHING)
    return taker.pulse(CollectorLoad())


def p99s_ms(pulse: Pulse) -> list[float | None]:
    return [None if us is None else us / 1000 for us in pulse.recent.p99_us]


def test_a_run_without_frames_has_an_empty_pulse() -> None:
    assert PulseTaker().pulse(CollectorLoad()) == Pulse()


def test_totals_are_those_of_all_frames() -> None:
    frames = [frame(at, tuple(range(1, at * 7 + 2))) for at in range(30)]
    pulse = taken(*frames)
    tally = Tally()
    tally.add(merged(each.latency for each in frames).counts)
    assert pulse.processed == tally.taken()
    assert pulse.source is Source.RECORD


def test_a_pulse_between_does_not_change_the_next_one() -> None:
    often, once = PulseTaker(), PulseTaker()
    for at in range(3 * PER_BIN):
        often.add(frame(at, (at % 90,)), NOTHING)
        once.add(frame(at, (at % 90,)), NOTHING)
        often.pulse(CollectorLoad())
    assert often.pulse(CollectorLoad()) == once.pulse(CollectorLoad())


def test_committed_latencies_are_kept_apart() -> None:
    taker = PulseTaker()
    taker.add(frame(0, (10,)), committed=Histogram.of([500_000, 600_000]))
    pulse = taker.pulse(CollectorLoad())
    assert (pulse.processed.count, pulse.committed.count) == (1, 2)


def test_batches_rows_and_their_durations_are_counted() -> None:
    batches = (Batch(1, START_MS - 900, 900, 40), Batch(2, START_MS - 50, 50, 0))
    pulse = taken(frame(0, batches=batches), frame(1), frame(2, batches=(Batch(3, 0, 7, 2),)))
    assert (pulse.batches, pulse.rows_in) == (3, 42)
    assert pulse.batch_durations.count == 3
    assert pulse.batch_durations.sum_us == pytest.approx(957_000, rel=0.01)


def test_flushes_compactions_and_failed_tasks_are_counted() -> None:
    taker = PulseTaker()
    ended = [Activity(kind, 0, 1) for kind in (Kind.FLUSH, Kind.TASK, Kind.COMPACTION, Kind.FLUSH)]
    taker.add(frame(0, tasks=TaskCounts(failed=2)), NOTHING, ended)
    taker.add(frame(1, tasks=TaskCounts(failed=1)), NOTHING, ended[:1])
    pulse = taker.pulse(CollectorLoad())
    assert (pulse.flushes, pulse.compactions, pulse.failed_tasks) == (3, 1, 3)


def test_health_and_backlog_are_those_of_the_newest_frame() -> None:
    pulse = taken(
        frame(0, health=Health(1), backlog_rows=9), frame(1, health=Health(2), backlog_rows=None)
    )
    assert (pulse.health, pulse.backlog_rows) == (Health(2), None)


def test_a_bin_is_told_once_it_is_complete() -> None:
    almost = [frame(at, (20,)) for at in range(PER_BIN)]
    assert taken(*almost).recent == Recent()
    pulse = taken(*almost, frame(PER_BIN, (999,)))
    assert pulse.recent.last_start_ms == START_MS
    assert p99s_ms(pulse) == [pytest.approx(20, rel=0.01)]


def test_a_bin_begins_where_the_clock_says_and_not_where_the_run_did() -> None:
    first = 3 * PER_BIN - 5  # a quarter of a second before the clock's next ten seconds
    pulse = taken(*(frame(at, (at,)) for at in range(first, first + 10)))
    assert pulse.recent.last_start_ms == START_MS + 2 * BIN_MS
    assert len(pulse.recent.p99_us) == 1


def test_the_p99_of_a_bin_is_that_of_its_merged_buckets() -> None:
    frames = [frame(at, (at * 13 % 977, at * 7 % 311)) for at in range(PER_BIN)]
    pulse = taken(*frames, frame(PER_BIN))
    [expected] = merged(each.latency for each in frames).quantiles_us([0.99])
    assert expected
    assert pulse.recent.p99_us == (round(expected),)


def test_a_bin_in_which_nothing_completed_has_no_p99() -> None:
    frames = [frame(at, (20,)) for at in range(PER_BIN)]
    frames += [frame(at, stamped=True) for at in range(PER_BIN, 2 * PER_BIN + 1)]
    assert taken(*frames).recent.p99_us[1:] == (None,)


def test_bins_of_windows_that_were_skipped_are_empty() -> None:
    pulse = taken(frame(0, (20,)), frame(4 * PER_BIN + 3, (30,)), frame(5 * PER_BIN, (40,)))
    assert pulse.recent.start_ms == START_MS
    assert p99s_ms(pulse) == [
        pytest.approx(20, rel=0.01),
        None,
        None,
        None,
        pytest.approx(30, rel=0.01),
    ]


def test_after_a_long_silence_only_the_last_bins_are_kept() -> None:
    taker = PulseTaker()
    taker.add(frame(0, (20,)), NOTHING)
    taker.add(frame(1_000_000 * PER_BIN, (30,)), NOTHING)
    pulse = taker.pulse(CollectorLoad())
    assert pulse.recent.p99_us == (None,) * MOST_BINS
    assert pulse.recent.last_start_ms == START_MS + 999_999 * BIN_MS
    assert pulse.processed.count == 2


def test_only_the_last_ninety_bins_are_kept() -> None:
    pulse = taken(*(frame(at * PER_BIN, (at + 1,)) for at in range(MOST_BINS + 11)))
    assert len(pulse.recent.p99_us) == MOST_BINS
    assert pulse.recent.start_ms == START_MS + 10 * BIN_MS
    assert p99s_ms(pulse)[0] == pytest.approx(11, rel=0.01)


def test_without_stamps_a_batch_speaks_for_its_rows() -> None:
    slow, quick = Batch(1, 0, 900, 1_000), Batch(2, 0, 100, 20)
    pulse = taken(frame(0, batches=(slow, quick)), frame(PER_BIN))
    assert pulse.source is Source.BATCH
    assert p99s_ms(pulse) == [pytest.approx(900, rel=0.01)]
    assert pulse.processed.count == 0


def test_bins_of_batches_are_forgotten_once_a_record_is_stamped() -> None:
    batch = Batch(1, 0, 900, 1_000)
    frames = [frame(0, batches=(batch,)), frame(PER_BIN, batches=(batch,))]
    assert len(taken(*frames, frame(2 * PER_BIN)).recent.p99_us) == 2
    pulse = taken(*frames, frame(PER_BIN + 1, (30,)), frame(2 * PER_BIN))
    assert pulse.source is Source.RECORD
    assert pulse.recent.last_start_ms == START_MS + BIN_MS
    assert p99s_ms(pulse) == [pytest.approx(30, rel=0.01)]


def test_while_a_run_warms_up_its_latencies_are_in_its_totals_but_in_no_bin() -> None:
    frames = [frame(at, (20_000,), warming_up=True) for at in range(PER_BIN + 10)]
    frames += [frame(at, (20,)) for at in range(PER_BIN + 10, 2 * PER_BIN + 1)]
    assert taken(*frames[:20]).warming_up
    pulse = taken(*frames)
    assert not pulse.warming_up
    assert p99s_ms(pulse) == [None, pytest.approx(20, rel=0.01)]
    assert pulse.processed.count == 2 * PER_BIN + 1


def test_without_stamps_batches_of_the_warm_up_are_in_no_bin_either() -> None:
    slow, quick = Batch(1, 0, 9_000, 1_000), Batch(2, 0, 100, 20)
    pulse = taken(
        frame(0, batches=(slow,), warming_up=True), frame(1, batches=(quick,)), frame(PER_BIN)
    )
    assert p99s_ms(pulse) == [pytest.approx(100, rel=0.01)]
    assert pulse.batches == 2
