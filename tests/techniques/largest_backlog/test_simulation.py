"""Hone's simulation: by hand, tuple by tuple, against a closed form, and against its figures."""

from collections import deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from techniques.largest_backlog.simulation import (
    SCHEDULERS,
    SLOT_S,
    Outcome,
    Scheduler,
    arrivals,
    jain_index,
    largest_backlog,
    next_waiting,
    simulate,
    turns,
)

Arriving = NDArray[np.uint8]

# Slots × runs × queues, few tuples in each.
shapes = st.tuples(st.integers(1, 30), st.integers(1, 3), st.integers(1, 5))
tuples: st.SearchStrategy[Arriving] = arrays(np.uint8, shapes, elements=st.integers(0, 3))


def one_run(*slots: list[int]) -> Arriving:
    return np.array(slots, dtype=np.uint8)[:, None, :]


def tuple_by_tuple(arriving: Arriving, scheduler: Scheduler) -> tuple[int, float]:
    """The largest backlog and the mean delay in slots of one run, with a real queue of tuples."""
    queues: list[deque[int]] = [deque() for _ in range(arriving.shape[2])]
    highest, delays = 0, []
    for slot, arrived in enumerate(arriving[:, 0]):
        lengths = np.array([[len(queue) for queue in queues]])
        chosen = queues[int(scheduler(lengths)[0])]
        for queue, many in zip(queues, arrived, strict=True):
            queue.extend([slot] * int(many))
        if chosen:
            came = chosen.popleft()
            delays.append(slot - came - 0.5 if came < slot else 0.0)
        highest = max(highest, *(len(queue) for queue in queues))
    return highest, float(np.mean(delays)) if delays else float("nan")


def paper(rate_per_s: float, runs: int = 20) -> dict[str, Outcome]:
    arriving = arrivals([rate_per_s] * runs, 10, np.random.default_rng(4))
    return {name: simulate(arriving, scheduler()) for name, scheduler in SCHEDULERS.items()}


def test_the_largest_backlog_is_sent_first() -> None:
    # Backlogs at the beginning of slots: (0,0), (1,3), (1,2), (1,1), (0,1), (0,0).
    # In the first slot the first queue is selected, and one of its two leaves at once.
    found = simulate(one_run([2, 3], [0, 0], [0, 0], [0, 0], [0, 0]), largest_backlog(), [1, 2])
    assert found.max_backlog.tolist() == [3]
    assert found.jain.tolist() == [pytest.approx([16 / (2 * 10), 9 / (2 * 5)])]
    # 0, then 1, 2, 3 and 4 slots after their own, each half a slot less.
    assert found.mean_delay_s.tolist() == pytest.approx([(0 + 0.5 + 1.5 + 2.5 + 3.5) / 5 * SLOT_S])
    assert found.left.tolist() == [0]


def test_the_turn_of_an_empty_queue_goes_unused() -> None:
    # The second queue's turn is every second slot: 1, 3; the third tuple is left.
    found = simulate(one_run([0, 3], [0, 0], [0, 0], [0, 0]), turns(), [])
    assert found.left.tolist() == [1]
    assert found.mean_delay_s.tolist() == pytest.approx([(0.5 + 2.5) / 2 * SLOT_S])


def test_who_has_nothing_is_skipped_by_the_other_round_robin() -> None:
    found = simulate(one_run([0, 3], [0, 0], [0, 0], [0, 0]), next_waiting(), [])
    assert found.left.tolist() == [0]
    assert found.mean_delay_s.tolist() == pytest.approx([(0.5 + 1.5 + 2.5) / 3 * SLOT_S])


def test_the_other_round_robin_goes_on_behind_the_last_one() -> None:
    scheduler = next_waiting()
    backlogs = np.array([[1, 1, 1], [0, 5, 0], [0, 0, 0]])
    selected = [scheduler(backlogs).tolist() for _ in range(4)]
    assert selected == [[0, 1, 0], [1, 1, 1], [2, 1, 2], [0, 1, 0]]


@settings(deadline=None)
@given(tuples, st.sampled_from(sorted(SCHEDULERS)))
def test_arrays_do_what_real_queues_do(arriving: Arriving, name: str) -> None:
    found = simulate(arriving, SCHEDULERS[name](), [])
    for run in range(arriving.shape[1]):
        alone = arriving[:, run : run + 1]
        highest, delay = tuple_by_tuple(alone, SCHEDULERS[name]())
        assert found.max_backlog[run] == highest
        assert found.mean_delay_s[run] / SLOT_S == pytest.approx(delay, nan_ok=True)


@settings(deadline=None)
@given(tuples)
def test_round_robin_is_the_closed_form_of_its_equation(arriving: Arriving) -> None:
    # B(t+1) = max(B(t) + a(t) - x(t), 0) is a walk over its lowest point so far (Lindley, 1952),
    # and who is selected does not depend on backlogs.
    slots, _, queues = arriving.shape
    selected = np.arange(slots)[:, None] % queues == np.arange(queues)
    walk = (arriving.astype(np.int64) - selected[:, None, :]).cumsum(axis=0)
    backlogs = walk - np.minimum(np.minimum.accumulate(walk, axis=0), 0)
    found = simulate(arriving, turns(), [])
    assert (found.max_backlog == backlogs.max(axis=(0, 2))).all()
    assert (found.left == backlogs[-1].sum(axis=1)).all()


@settings(deadline=None)
@given(tuples)
def test_runs_do_not_know_of_each_other(arriving: Arriving) -> None:
    for scheduler in SCHEDULERS.values():
        together = simulate(arriving, scheduler(), [len(arriving) - 1])
        for run in range(arriving.shape[1]):
            alone = simulate(arriving[:, run : run + 1], scheduler(), [len(arriving) - 1])
            assert together.max_backlog[run] == alone.max_backlog[0]
            assert together.jain[run].tolist() == alone.jain[0].tolist()


def test_jains_index_is_one_for_equals_and_a_share_for_one_alone() -> None:
    backlogs = np.array([[7, 7, 7, 7], [0, 9, 0, 0], [0, 0, 0, 0], [1, 2, 3, 4]])
    assert jain_index(backlogs).tolist() == pytest.approx([1, 1 / 4, 1, 100 / (4 * 30)])


def test_arrivals_have_the_rate_of_their_run() -> None:
    found = arrivals([500, 5_000], 10, np.random.default_rng(1), slots=20_000)
    assert found.shape == (20_000, 2, 10)
    per_slot = found.mean(axis=(0, 2))
    assert per_slot.tolist() == pytest.approx([0.05, 0.5], rel=0.03)
    # Poisson: as wide as it is large.
    assert found.var(axis=(0, 2)).tolist() == pytest.approx(per_slot.tolist(), rel=0.03)


def test_at_half_load_the_delay_falls_as_in_the_paper() -> None:
    found = paper(500)
    delay_slots = found["largest_backlog"].mean_delay_s / SLOT_S
    # Theory: an M/D/1 queue at half load waits half a slot, and half a slot for the next one to
    # begin; a bit less, because some leave at once.
    assert delay_slots.mean() == pytest.approx(0.93, abs=0.05)
    reduction = 1 - delay_slots / (found["turns"].mean_delay_s / SLOT_S)
    assert reduction.min() < 0.898 < reduction.max()


def test_at_full_load_the_largest_backlog_falls_as_in_the_paper() -> None:
    found = paper(1_000)
    reduction = 1 - found["largest_backlog"].max_backlog / found["turns"].max_backlog
    assert reduction.min() < 0.833 < reduction.max()
    assert 1.3 < (found["largest_backlog"].jain / found["turns"].jain).mean() < 1.9
    delay = 1 - found["largest_backlog"].mean_delay_s / found["turns"].mean_delay_s
    assert delay.min() < 0.701 < delay.max()


def test_against_a_round_robin_that_skips_empty_queues_only_the_balance_is_better() -> None:
    found = paper(1_000)
    ours, skipping = found["largest_backlog"], found["next_waiting"]
    assert ours.mean_delay_s.mean() == pytest.approx(skipping.mean_delay_s.mean(), rel=0.02)
    assert (ours.max_backlog < skipping.max_backlog).all()
    assert (ours.jain / skipping.jain).mean() > 1.2


def test_under_too_much_load_hardly_anything_can_be_gained() -> None:
    found = paper(5_000, runs=5)
    ours, other = found["largest_backlog"], found["turns"]
    assert (1 - ours.mean_delay_s / other.mean_delay_s).max() < 0.05
    assert (ours.jain / other.jain).tolist() == [pytest.approx([1.0] * 9, abs=0.02)] * 5
