"""The mitigations of the paper's section 4, with its own figures and against themselves."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from techniques.shadowsync.algorithm import Load, alpha, ceiling, delay, threshold

# Section 5.1: 60 000 messages a second at 75 % of the CPU, a checkpoint every 8 s.
PAPER = Load(
    rate_per_s=60_000,
    flush_ms=1_200,
    capacity_per_s=80_000,
    interval_ms=8_000,
    compaction_ms=1_500,
)

numbers = st.integers(min_value=0, max_value=10_000)
positive = st.floats(min_value=0.1, max_value=1e6)
loads = st.builds(Load, positive, positive, positive, positive, positive)


def test_thresholds_are_those_of_the_paper_four_to_seven_each_as_often() -> None:
    drawn = Counter(threshold(alpha(seed, 0, each)) for seed in range(64) for each in range(64))

    assert set(drawn) == {4, 5, 6, 7}
    # 4096 draws: one standard deviation is 28.
    assert all(abs(count - 1024) < 140 for count in drawn.values())


def test_instances_that_compacted_together_are_spread_in_every_run() -> None:
    """Section 4.1: 64 instances of a stage, which all compacted at the same checkpoint."""
    for seed in range(100):
        together = Counter(alpha(seed, 0, each) for each in range(64)).most_common(1)[0][1]
        assert together < 64 / 2


@given(numbers, numbers, numbers, numbers, st.integers(2, 8))
def test_the_same_seed_draws_the_same_within_its_bounds(
    seed: int, operator: int, partition: int, reopened: int, spread: int
) -> None:
    drawn = alpha(seed, operator, partition, "default", reopened, spread)

    assert 0 <= drawn < spread
    assert drawn == alpha(seed, operator, partition, "default", reopened, spread)


@pytest.mark.parametrize("other", ["seed", "operator", "partition", "reopened", "store"])
def test_all_that_names_an_instance_changes_what_it_draws(other: str) -> None:
    usual = {"seed": 1, "operator": 0, "partition": 0, "reopened": 0}
    names = {"store": lambda each: f"left-{each}"}
    drawn = {
        alpha(**(usual | {other: names.get(other, int)(each)}))  # type: ignore[arg-type]
        for each in range(40)
    }

    assert drawn == {0, 1, 2, 3}


@given(st.integers(0, 100), st.integers(1, 100), st.integers(-1, 100))
def test_no_threshold_lets_level_0_grow_to_where_writes_are_slowed_down(
    drawn: int, base: int, slowdown: int
) -> None:
    found = threshold(drawn, base, slowdown)

    assert base <= found <= ceiling(base, slowdown)
    assert found == base or found <= slowdown - 4


def test_the_delay_of_the_papers_job_is_about_a_second() -> None:
    """Its own is 800 ms to 1 s (section 4.1), and from 1 to 3 s all are as good (Figure 12)."""
    found = delay(PAPER)

    assert PAPER.queued == 72_000
    assert found.ms is not None
    assert 900 <= found.ms <= 3_000


def test_a_delay_that_reaches_the_next_checkpoint_does_not_fit() -> None:
    """Figure 12: 8 s of delay at a checkpoint interval of 8 s bring the overlap back."""
    found = delay(replace(PAPER, flush_ms=9_000))

    assert found.ms is None
    assert "6750 ms" in found.why
    assert "8000 ms" in found.why


def test_a_job_at_its_capacity_has_no_delay_for_its_queue_never_drains() -> None:
    assert delay(replace(PAPER, rate_per_s=80_000)).ms is None
    assert delay(replace(PAPER, capacity_per_s=0)).ms is None


def test_a_delay_that_has_no_room_to_be_rounded_is_taken_as_it_is() -> None:
    tight = replace(PAPER, interval_ms=2_450)

    assert delay(tight).ms == 900


@given(loads)
def test_a_delay_drains_the_queue_and_ends_before_the_next_checkpoint(load: Load) -> None:
    found = delay(load)

    if found.ms is None:
        assert found.why
    else:
        drain_ms = load.queued / load.capacity_per_s * 1000
        assert drain_ms <= found.ms < load.interval_ms - load.compaction_ms


@given(loads, st.floats(1, 10))
def test_a_longer_flush_never_shortens_the_delay(load: Load, times: float) -> None:
    shorter, longer = delay(load), delay(replace(load, flush_ms=load.flush_ms * times))

    if longer.ms is not None:
        assert shorter.ms is not None
