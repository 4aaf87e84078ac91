"""Du & Gupta's Algorithm 1, line by line."""

from bisect import bisect_right
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from techniques.adaptive_timeout.algorithm import percentile, timeout

latencies_ms = st.lists(st.floats(0, 1e6), min_size=1, max_size=2_500)


def thousand(p90: float, p95: float, p99: float, p999: float) -> list[float]:
    """A thousand latencies with these percentiles, in no order."""
    # The 900th of the ascending ones is p90, the 950th p95, the 990th p99, the 999th p99.9.
    values = [1.0] * 899 + [p90] + [p95] * 50 + [p99] * 40 + [p999] * 10
    Random(1).shuffle(values)
    return values


def test_a_long_p99_sets_the_timeout_to_p90() -> None:
    assert timeout(thousand(10, 15, 20.1, 30)) == 10


def test_a_long_tail_behind_p99_sets_the_timeout_to_p95() -> None:
    assert timeout(thousand(10, 15, 20, 30.1)) == 15


def test_without_a_long_tail_the_timeout_is_p999() -> None:
    # Twice as long is not longer than twice.
    assert timeout(thousand(10, 15, 20, 30)) == 30


def test_a_long_p99_counts_before_a_long_p999() -> None:
    assert timeout(thousand(10, 15, 25, 300)) == 10


def test_a_period_without_latencies_has_no_timeout() -> None:
    assert timeout([]) is None


def test_one_latency_is_its_own_percentile() -> None:
    assert timeout([7.5]) == 7.5


def test_few_latencies_have_their_longest_for_all_percentiles() -> None:
    # Nine of ten are p90, so with up to nine each percentile is the longest.
    assert timeout([1, 1, 1, 1, 100]) == 100
    # With ten, p90 is the ninth, and one straggler is a long tail.
    assert timeout([1] * 9 + [100]) == 1


def test_what_was_measured_stays_as_it_was() -> None:
    measured = [3.0, 1.0, 2.0]
    timeout(measured)
    assert measured == [3.0, 1.0, 2.0]


def test_percentiles_are_those_of_the_ranks() -> None:
    ranked = list(range(1, 1_001))
    assert [percentile(ranked, each) for each in (900, 950, 990, 999)] == [900, 950, 990, 999]
    assert [percentile(list(range(1, 11)), each) for each in (900, 901)] == [9, 10]


@given(latencies_ms)
def test_the_timeout_is_one_of_three_percentiles(measured: list[float]) -> None:
    ranked = sorted(measured)
    assert timeout(measured) in {percentile(ranked, each) for each in (900, 950, 999)}


@given(latencies_ms, st.integers(1, 1_000))
def test_a_percentile_is_the_smallest_that_covers_its_share(
    measured: list[float], per_mille: int
) -> None:
    ranked = sorted(measured)
    found = percentile(ranked, per_mille)
    assert bisect_right(ranked, found) * 1000 >= per_mille * len(ranked)
    smaller = [each for each in ranked if each < found]
    assert len(smaller) * 1000 < per_mille * len(ranked)


@given(latencies_ms)
def test_at_most_a_tenth_is_longer_than_the_timeout(measured: list[float]) -> None:
    chosen = timeout(measured)
    assert chosen is not None
    assert sum(each > chosen for each in measured) <= len(measured) / 10


@given(latencies_ms, st.integers(1, 16))
def test_the_unit_of_time_makes_no_difference(measured: list[float], scale: int) -> None:
    chosen = timeout(measured)
    assert chosen is not None
    # A power of two, so that nothing is rounded.
    assert timeout([each * 2**scale for each in measured]) == chosen * 2**scale
