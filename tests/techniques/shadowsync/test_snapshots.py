"""Where snapshots fall, and that nobody can put them off."""

import itertools
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from techniques.shadowsync.snapshots import next_snapshot, offset

seeds = st.integers(0, 2**31 - 1)
periods = st.integers(1, 40)


@given(seeds, st.integers(0, 9), st.integers(0, 100), periods)
def test_as_many_partitions_as_versions_in_a_period_each_have_their_own(
    seed: int, operator: int, first: int, every: int
) -> None:
    drawn = {offset(seed, operator, first + each, every) for each in range(every)}

    assert drawn == set(range(every))


@given(seeds, periods, st.integers(1, 200))
def test_no_version_has_more_snapshots_than_it_must(seed: int, every: int, partitions: int) -> None:
    by_offset = Counter(offset(seed, 0, each, every) for each in range(partitions))

    assert max(by_offset.values()) == -(-partitions // every)


@given(seeds, st.integers(2, 5))
def test_few_partitions_are_apart_and_not_just_in_different_batches(seed: int, few: int) -> None:
    every = 40
    drawn = sorted(offset(seed, 0, each, every) for each in range(few))
    gaps = [later - earlier for earlier, later in itertools.pairwise(drawn)]

    assert min([*gaps, drawn[0] + every - drawn[-1]]) >= every // 8


def test_seeds_and_operators_begin_elsewhere() -> None:
    assert len({offset(seed, 0, 0, 10) for seed in range(100)}) == 10
    assert len({offset(0, operator, 0, 10) for operator in range(100)}) == 10


@given(seeds, st.integers(0, 200), st.integers(0, 10_000), periods)
def test_the_next_snapshot_is_within_a_period_and_in_phase(
    seed: int, partition: int, loaded: int, every: int
) -> None:
    at = offset(seed, 0, partition, every)
    found = next_snapshot(loaded, loaded, every, at)

    assert loaded < found <= loaded + every
    assert (found + at) % every == 0
    # From there on Spark counts alone: the same phase comes out of it.
    assert next_snapshot(found, found, every, at) == found + every


@given(st.integers(1, 12), st.lists(st.none() | st.integers(0, 11), max_size=200))
def test_whoever_changes_phases_however_often_no_store_waits_for_two_periods(
    every: int, asked: list[int | None]
) -> None:
    """Between any two commits somebody may ask for another phase, or nobody does."""
    last, due = 0, every
    for loaded, phase in enumerate(asked):
        if phase is not None:
            due = next_snapshot(loaded, last, every, phase % every)
        assert due > loaded
        if loaded + 1 == due:
            last, due = due, due + every
        assert due - last <= 2 * every - 1


@given(st.integers(1, 40), st.integers(0, 39), st.integers(0, 1000), st.integers(0, 1000))
def test_a_store_that_is_overdue_writes_at_its_next_commit(
    every: int, phase: int, last: int, late: int
) -> None:
    loaded = last + 2 * every - 1 + late

    assert next_snapshot(loaded, last, every, phase % every) == loaded + 1
