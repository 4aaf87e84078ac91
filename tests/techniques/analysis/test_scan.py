"""A scan finds what stands out, tolerates rhythm and noise, and keeps to its share of each hour."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from techniques.analysis.scan import MOST_PER_HOUR_MS, Scanned, scan
from techniques.intervals import Floats

START_MS = 1_700_438_400_000
DAY_S = 86_400


def quiet(seed: int, seconds: int = DAY_S, spread: float = 0.08) -> Floats:
    random = np.random.default_rng(seed)
    by_day = 0.7 * np.sin(2 * np.pi * np.arange(seconds) / DAY_S)
    return 200_000 * np.exp(by_day + spread * random.normal(size=seconds))


def scanned(p99_us: Floats) -> Scanned:
    at_ms = START_MS + np.arange(len(p99_us), dtype=np.int64) * 1_000
    return scan(at_ms, p99_us, START_MS, START_MS + len(p99_us) * 1_000)


def test_a_second_that_is_twice_as_high_is_raised_and_has_its_surroundings() -> None:
    p99_us = quiet(1)
    p99_us[5_000] *= 2

    found = scanned(p99_us)

    assert found.raised[5_000]
    at_ms = START_MS + 5_000_000
    assert any(start <= at_ms - 60_000 and end >= at_ms + 31_000 for start, end in found.ranges_ms)


def test_a_quiet_job_with_day_and_night_is_hardly_looked_at() -> None:
    shares = [scanned(quiet(seed)).raised.mean() for seed in range(20)]

    assert max(shares) < 0.001


def test_half_an_hour_of_incident_is_raised_all_along() -> None:
    p99_us = quiet(2)
    p99_us[40_000:41_800] *= 3

    assert scanned(p99_us).raised[40_000:41_800].mean() > 0.99


def test_an_hour_is_looked_at_no_longer_than_its_share_and_the_rest_is_told() -> None:
    p99_us = quiet(3)
    p99_us[::40] *= 3

    found = scanned(p99_us)

    looked_ms = sum(end - start for start, end in found.ranges_ms)
    assert looked_ms <= 24 * (MOST_PER_HOUR_MS + 90_000)
    assert found.left_out_ms > 0


def test_the_highest_rises_of_an_hour_come_first() -> None:
    p99_us = quiet(4, 3_600)
    p99_us[100:3_500:100] *= 2
    p99_us[1_800] *= 5

    at_ms = START_MS + 1_800_000
    assert any(start <= at_ms < end for start, end in scanned(p99_us).ranges_ms)


def test_seconds_without_data_are_never_raised() -> None:
    p99_us = quiet(5)
    p99_us[10_000:20_000] = np.nan
    p99_us[30_000:30_100] = 0

    found = scanned(p99_us)

    assert not found.raised[10_000:20_000].any()
    assert not found.raised[30_000:30_100].any()


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(-100, 3_000), st.floats(0, 1e9)), max_size=200),
    st.integers(0, 2_500),
)
def test_any_roll_ups_give_ranges_in_order_inside_the_range(
    rows: list[tuple[int, float]], seconds: int
) -> None:
    at_ms = START_MS + np.array([at for at, _ in rows], dtype=np.int64) * 1_000
    end_ms = START_MS + seconds * 1_000

    found = scan(at_ms, np.array([value for _, value in rows]), START_MS, end_ms)

    assert len(found.raised) == seconds
    bounds = [bound for each in found.ranges_ms for bound in each]
    assert bounds == sorted(bounds)
    assert all(START_MS <= bound <= end_ms for bound in bounds)
    for second in np.flatnonzero(found.raised) if not found.left_out_ms else ():
        at = START_MS + int(second) * 1_000
        assert any(start <= at < end for start, end in found.ranges_ms)
