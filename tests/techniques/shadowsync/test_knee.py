"""The knee of p99 over live compactions, on curves whose knee is known."""

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from techniques.shadowsync.knee import Knee, Pairs, at_once, knee, pairs, rising, together
from techniques.view import WINDOW_MS, Interval, View
from tests.techniques.shadowsync.curves import START_MS, compacting, curved

# Of Figure 15 the text tells the range, 1 to 16 at once, and the knee, 4, beyond which any more
# means a longer tail. The heights are made up.
PAPER = {level: 400.0 + 8 * level + 70 * max(0, level - 4) for level in range(1, 17)}


def seen(curve: dict[int, float], windows: int = 60, noise: float = 0.0, seed: int = 0) -> Pairs:
    random = np.random.default_rng(seed)
    return {
        level: (ms * random.lognormal(0, noise, windows)).tolist() for level, ms in curve.items()
    }


# Heights and noise of up to eight levels; 20 windows is what counts.
curves = st.builds(
    seen,
    st.dictionaries(st.integers(1, 8), st.floats(1, 10_000), max_size=8),
    st.integers(18, 24),
    st.floats(0, 1),
    st.integers(0, 1000),
)
# The first to look at a curve waits for SciPy.
patient = settings(deadline=None, max_examples=40)


def view_of(found: Pairs) -> View:
    return curved([(level, ms) for level, values in found.items() for ms in values])


def test_the_papers_knee_is_found() -> None:
    found = knee(seen(PAPER))

    assert found.at == 4
    assert [point.level for point in found.points] == list(range(1, 17))
    assert found.points[3].p99_ms == PAPER[4]


def test_it_is_found_in_windows_that_spread_by_a_tenth() -> None:
    """Ten seconds of each level."""
    found = [knee(seen(PAPER, 200, noise=0.1, seed=seed)).at for seed in range(50)]

    assert found.count(4) >= 45
    assert set(found) <= {3, 4, 5}


@pytest.mark.parametrize(
    ("heights", "at"),
    [
        ((200, 200, 200, 400), 3),
        ((200, 205, 400, 410), 2),
        ((100, 110, 300, 600), 2),
        ((100, 100, 101, 500, 900), 3),
        # What was hardly worse at two than at three: no dip is a knee.
        ((120, 150, 118, 120, 400, 800), 4),
    ],
)
def test_few_levels_are_enough_where_the_bend_is_clear(heights: tuple[float, ...], at: int) -> None:
    assert knee(seen(dict(enumerate(heights, 1)))).at == at


@pytest.mark.parametrize(
    ("curve", "why"),
    [
        ({}, "too few windows"),
        ({2: 200.0}, "only 2 compactions at once was seen"),
        ({1: 200.0, 2: 210.0, 5: 400.0}, "only 1, 2 and 5 compactions at once were seen"),
        ({1: 200.0, 2: 205.0, 3: 199.0, 4: 210.0}, "does not rise"),
        ({1: 400.0, 2: 300.0, 3: 200.0, 4: 100.0}, "does not rise"),
        ({1: 100.0, 2: 200.0, 3: 300.0, 4: 400.0}, "without a knee"),
        ({1: 200.0, 2: 400.0, 3: 500.0, 4: 510.0}, "without a knee"),
    ],
)
def test_without_a_knee_it_says_what_is_missing(curve: dict[int, float], why: str) -> None:
    found = knee(seen(curve))

    assert found.at is None
    assert why in found.why


def test_levels_that_were_hardly_seen_do_not_count() -> None:
    rare = {**seen(PAPER), 17: [9_000.0] * 5}

    assert knee(rare) == knee(seen(PAPER))


def test_one_slow_level_that_was_seen_rarely_makes_no_knee() -> None:
    steady = {level: [200.0] * 500 for level in range(1, 9)}

    assert knee({**steady, 3: [900.0] * 20}).at is None


@patient
@given(curves, st.integers(-6, 6))
def test_latency_in_another_unit_has_the_same_knee(found: Pairs, power: int) -> None:
    """By powers of two, which change no digit."""
    scaled = {level: [ms * 2.0**power for ms in values] for level, values in found.items()}

    assert knee(scaled).at == knee(found).at


@patient
@given(curves, st.randoms(use_true_random=False))
def test_the_order_of_the_windows_does_not_matter(found: Pairs, random: Random) -> None:
    windows = [(level, ms) for level, values in found.items() for ms in values]
    shuffled = list(windows)
    random.shuffle(shuffled)

    assert knee(pairs(curved(windows))) == knee(pairs(curved(shuffled)))


@patient
@given(curves)
def test_a_knee_is_a_level_that_was_seen_with_levels_beyond_it(found: Pairs) -> None:
    told: Knee = knee(found)

    if told.at is not None:
        levels = [point.level for point in told.points]
        assert levels[0] < told.at < levels[-1]
        assert told.at in levels


@patient
@given(curves)
def test_halves_put_together_are_the_whole(found: Pairs) -> None:
    first = {level: values[:10] for level, values in found.items()}
    second = {level: values[10:] for level, values in found.items()}

    assert knee(together(first, second)) == knee(found)


@patient
@given(st.lists(st.tuples(st.floats(1, 1e6), st.integers(1, 1000)), min_size=1, max_size=20))
def test_the_curve_that_never_falls_keeps_the_mean(points: list[tuple[float, int]]) -> None:
    values = np.array([value for value, _ in points])
    weights = np.array([weight for _, weight in points])
    made = rising(values, weights)

    assert (np.diff(made) >= 0).all()
    assert np.average(made, weights=weights) == pytest.approx(np.average(values, weights=weights))


def test_windows_without_records_or_compactions_tell_nothing() -> None:
    view = curved([(0, 100.0), (1, 200.0), (1, float("nan")), (2, 300.0)])

    assert pairs(view) == {1: [200.0], 2: [300.0]}
    assert pairs(view, START_MS + 2 * WINDOW_MS) == {2: [300.0]}


def test_compactions_one_after_the_other_are_not_at_once() -> None:
    def line(start_ms: float, end_ms: float) -> Interval:
        return Interval("compaction", START_MS + start_ms, START_MS + end_ms, "1")

    view = curved([(0, 100.0)] * 4)
    view.intervals["compaction"].extend(  # type: ignore[attr-defined]
        # The first window: three in a row. The second: two that overlap, and one that goes on.
        [line(5, 20), line(20, 35), line(35, 45), line(60, 80), line(70, 75), line(90, 120)]
    )

    assert at_once(view).tolist() == [1, 2, 1, 0]


def test_a_window_counts_for_its_busiest_executor() -> None:
    view = curved([(0, 100.0)])
    both = compacting(START_MS, 2, "1") + compacting(START_MS, 3, "2")
    view.intervals["compaction"].extend(both)  # type: ignore[attr-defined]

    assert at_once(view).tolist() == [3]


def test_what_began_before_the_view_and_goes_on_after_it_counts_in_all_of_it() -> None:
    view = curved([(0, 100.0)] * 3)
    long = Interval("compaction", START_MS - 500, START_MS + 500, "1")
    view.intervals["compaction"].append(long)  # type: ignore[attr-defined]

    assert at_once(view).tolist() == [1, 1, 1]


def test_a_view_has_the_curve_that_was_put_into_it() -> None:
    assert knee(pairs(view_of(seen(PAPER)))).at == 4
