"""Hone's Algorithm 1, and its bound against the best that could have been done."""

from itertools import product
from math import ceil, log2

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from techniques.largest_backlog.algorithm import largest, signals

Slots = list[tuple[int, ...]]

arriving = st.integers(1, 4).flatmap(
    lambda queues: st.lists(st.tuples(*[st.integers(0, 3)] * queues), min_size=1, max_size=7)
)


def peak(slots: Slots) -> int:
    """The largest backlog of any queue under Algorithm 1: what arrived is seen, then one leaves."""
    backlogs, highest = [0] * len(slots[0]), 0
    for arrived in slots:
        backlogs = [held + new for held, new in zip(backlogs, arrived, strict=True)]
        highest = max(highest, *backlogs)
        chosen = largest(backlogs)
        if chosen is not None:
            backlogs[chosen] -= 1
    return highest


def best_peak(slots: Slots) -> int:
    """The same of whoever knows the future: all that could be selected, by what can be reached."""
    reached = {(0,) * len(slots[0]): 0}
    for arrived in slots:
        after: dict[tuple[int, ...], int] = {}
        for held, highest in reached.items():
            full = [one + new for one, new in zip(held, arrived, strict=True)]
            worst = max(highest, *full)
            for chosen in range(len(full)):
                left = tuple(max(0, one - (at == chosen)) for at, one in enumerate(full))
                after[left] = min(worst, after.get(left, worst))
        reached = after
    return min(reached.values())


@pytest.mark.parametrize(
    ("backlogs", "chosen", "signalled"),
    [
        ([3, 7, 5], 1, [0, 1, 0]),
        ([0, 0, 1], 2, [0, 0, 1]),
        ([4, 9, 9], 1, [0, 1, 0]),
        ([2], 0, [1]),
        ([0, 0], None, [1, 1]),
        ([], None, []),
    ],
)
def test_the_queue_with_the_largest_backlog_may_send(
    backlogs: list[int], chosen: int | None, signalled: list[int]
) -> None:
    assert largest(backlogs) == chosen
    assert signals(backlogs) == signalled


@given(st.lists(st.integers(0, 100), min_size=1, max_size=64))
def test_either_one_may_send_or_nobody_waits(backlogs: list[int]) -> None:
    found = signals(backlogs)
    if any(backlogs):
        assert sum(found) == 1
        assert backlogs[found.index(1)] == max(backlogs)
    else:
        assert found == [1] * len(backlogs)


def test_selecting_by_hand_slot_by_slot() -> None:
    # (2,2) one leaves the first; (1,2) the second; (1+2,1) the first: never more than 3.
    assert peak([(2, 2), (0, 0), (2, 0), (0, 0)]) == 3
    # Who knows what comes next empties the first queue before.
    assert best_peak([(2, 2), (0, 0), (2, 0), (0, 0)]) == 2


def test_the_best_is_found_among_all_ways_to_select() -> None:
    slots: Slots = [(1, 2, 0), (0, 1, 2), (2, 0, 1), (1, 1, 1)]
    peaks = []
    for way in product(range(3), repeat=len(slots)):
        held, highest = [0, 0, 0], 0
        for arrived, chosen in zip(slots, way, strict=True):
            held = [one + new for one, new in zip(held, arrived, strict=True)]
            highest = max(highest, *held)
            held[chosen] = max(0, held[chosen] - 1)
        peaks.append(highest)
    assert best_peak(slots) == min(peaks)


@settings(deadline=None)
@given(arriving)
def test_theorem_1_bounds_it_by_the_best(slots: Slots) -> None:
    bound = 3 + ceil(log2(len(slots[0])))
    assert best_peak(slots) <= peak(slots) <= bound * best_peak(slots)
