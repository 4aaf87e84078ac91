"""Bins against objectives: from what heartbeats say, and from frames."""

from typing import Any

import numpy as np
import pytest

from collectors.formats.buckets import Histogram
from collectors.formats.pulse import BIN_MS, Recent
from collectors.formats.wire import WINDOW_MS, Batch
from dashboard.series.history import History
from dashboard.series.latency_bins import MOST_BINS, LatencyBins
from dashboard.slo.evaluation import of_history, of_pulse, told_by_pulse
from techniques.slo.objective import JuiceTarget, LatencyTarget, Objective, Of, Statistic
from techniques.view import View
from tests.factories import START_MS, frame, p99_objective

# START_MS is the start of a window and lies within a bin.
BEGIN_MS = -(-START_MS // BIN_MS) * BIN_MS
FIRST = (BEGIN_MS - START_MS) // WINDOW_MS
PER_BIN = BIN_MS // WINDOW_MS
PROCESSED = Of.PROCESSED


def frames(bin_at: int, *latencies_ms: int, **changes: Any) -> list[Any]:
    """The bin's first frame, which has all of its records, and its last."""
    at = FIRST + bin_at * PER_BIN
    return [frame(at, latencies_ms, **changes), frame(at + PER_BIN - 1)]


def filled(of: Of, *bins: tuple[int, ...], **changes: Any) -> LatencyBins:
    found = LatencyBins(of)
    for at, latencies_ms in enumerate((*bins, ())):
        found.add(frames(at, *latencies_ms, **changes))
    return found


@pytest.mark.parametrize(
    ("statistic", "expected"),
    [("mean", 12.09), ("p95", 10), ("p99", 100), ("p999", 100)],
)
def test_statistics_are_those_of_all_records_of_the_bin(statistic: str, expected: float) -> None:
    made = LatencyBins(PROCESSED)
    first, last = frames(0, *(10,) * 90)
    made.add([first, frame(FIRST + 1, (10,) * 84), frame(FIRST + 2, (100,) * 4), last])
    made.add(frames(1))
    [only] = made.since(0)
    assert only.end_ms == BEGIN_MS + BIN_MS
    assert only.ms(Statistic(statistic)) == pytest.approx(expected, rel=0.01)


def test_a_bin_is_complete_with_the_next_and_only_if_it_was_seen_from_its_start() -> None:
    made = LatencyBins(PROCESSED)
    made.add([frame(FIRST - 1, (900,)), frame(FIRST, (10,)), frame(FIRST + PER_BIN - 1, (20,))])
    assert made.newest is None
    made.add([frame(FIRST + PER_BIN + 3, (30,))])
    assert [each.end_ms for each in made.since(0)] == [BEGIN_MS + BIN_MS]
    # The next began with a hole, which is no reason not to judge it.
    made.add(frames(2))
    assert [each.counts.count for each in made.since(0)] == [2, 1]
    assert made.since(BEGIN_MS + BIN_MS) == [made.newest]


def test_bins_are_bounded_and_a_bin_without_windows_is_none() -> None:
    made = LatencyBins(PROCESSED)
    for at in (*range(20), 30):
        made.add(frames(at, 10))
    assert len(made.since(0)) == MOST_BINS
    assert made.newest is not None
    assert made.newest.end_ms == BEGIN_MS + 20 * BIN_MS


def test_committed_latency_is_until_the_commit_and_without_stamps_that_of_batches() -> None:
    later = Histogram.of([250_000])
    assert _ms(filled(Of.COMMITTED, (10,), committed=later)) == pytest.approx(250, rel=0.01)
    batches = (Batch(7, START_MS, 400, 1_000),)
    for of in Of:
        assert _ms(filled(of, (), batches=batches)) == pytest.approx(400, rel=0.01)


def test_the_first_stamped_record_makes_durations_of_batches_void() -> None:
    made = LatencyBins(PROCESSED)
    made.add(frames(0, batches=(Batch(7, START_MS, 400, 1_000),)))
    made.add(frames(1, 10))
    made.add(frames(2, 10))
    assert [each.end_ms for each in made.since(0)] == [BEGIN_MS + 2 * BIN_MS]


def test_what_happened_while_the_run_warmed_up_is_in_no_bin() -> None:
    assert _ms(filled(PROCESSED, (9_000,), warming_up=True)) is None


def _ms(made: LatencyBins) -> float | None:
    assert made.newest is not None
    return made.newest.ms(Statistic.P99)


def test_heartbeats_are_enough_for_the_p99_of_processed_records_alone() -> None:
    assert told_by_pulse(p99_objective(500))
    assert not told_by_pulse(Objective(LatencyTarget(500)))
    assert not told_by_pulse(Objective(LatencyTarget(500, Statistic.P95, PROCESSED)))
    both = Objective(LatencyTarget(500, of=PROCESSED), JuiceTarget(0.9))
    assert not told_by_pulse(both)


def test_of_heartbeats_every_bin_since_the_last_is_judged_and_at_first_the_newest() -> None:
    recent = Recent(BEGIN_MS, (100_000, None, 600_000))
    objective = p99_objective(500)
    assert [each.end_ms for each in of_pulse(objective, recent, 0)] == [BEGIN_MS + BIN_MS]
    found = of_pulse(objective, recent, BEGIN_MS - 2 * BIN_MS)
    assert [(each.end_ms - BEGIN_MS, each.met) for each in found] == [
        (-BIN_MS, True),
        (BIN_MS, False),
    ]
    # Missed by 100 ms of 600: what is left of the priority of 35.
    assert found[1].utility == pytest.approx(35 * 500 / 600)
    assert of_pulse(objective, recent, BEGIN_MS + BIN_MS) == []
    assert of_pulse(objective, Recent(), 0) == []


def view(end_ms: int = BEGIN_MS + 3 * BIN_MS + 700) -> View:
    history = History(10)
    history.add([frame((end_ms - START_MS) // WINDOW_MS - 1)])
    return history.view()


def test_of_frames_likewise_with_the_juice_at_the_end_of_the_newest() -> None:
    made = filled(PROCESSED, (100,), (600,), (100,))
    objective = Objective(LatencyTarget(500, Statistic.P95, PROCESSED), JuiceTarget(0.9))
    found = of_history(objective, made, view(), BEGIN_MS, lambda _view: 0.8)
    # That of the first is unknown: its juice is not, and its latency is met.
    assert [each.met for each in found] == [None, False, False]
    assert [each.juice for each in found] == [None, None, 0.8]
    # The mean of the two: all of the latency's, 0.8 / 0.9 of juice.
    assert found[2].utility == pytest.approx(35 * (1 + 0.8 / 0.9) / 2)
    assert [each.met for each in of_history(objective, made, view(), 0, lambda _view: 0.95)] == [
        True
    ]


def test_without_a_latency_bins_end_by_the_clock_of_the_windows() -> None:
    objective = Objective(juice=JuiceTarget(0.9))
    [found] = of_history(objective, None, view(), 0, lambda _view: 0.95)
    assert (found.end_ms, found.latency_ms, found.juice, found.met) == (
        BEGIN_MS + 3 * BIN_MS,
        None,
        0.95,
        True,
    )
    assert of_history(objective, None, view(), found.end_ms, lambda _view: 0.95) == []
    assert np.isnan(view().p99_ms).all()


def test_juice_is_asked_for_only_where_it_is_promised_and_a_bin_is_due() -> None:
    asked: list[View] = []

    def juice(seen: View) -> float:
        asked.append(seen)
        return 1.0

    made = filled(PROCESSED, (100,))
    of_history(Objective(LatencyTarget(500, of=PROCESSED)), made, view(), 0, juice)
    both = Objective(LatencyTarget(500, of=PROCESSED), JuiceTarget(0.9))
    of_history(both, made, view(), BEGIN_MS + BIN_MS, juice)
    assert asked == []
    of_history(both, made, view(), 0, juice)
    assert len(asked) == 1
