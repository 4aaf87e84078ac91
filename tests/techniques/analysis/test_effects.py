"""A switch's effect is the planted ratio; a switch that does nothing has an interval around 1."""

import numpy as np
import pytest

from techniques.analysis.effects import Switch, effects

MINUTE_MS = 60_000
SWITCH = Switch("shadowsync", 120 * MINUTE_MS, "on")


def test_a_switch_that_halves_p99_is_told_with_an_interval_below_one() -> None:
    p99 = 200 * np.exp(np.random.default_rng(1).normal(size=300) * 0.1)
    p99[120:] /= 2

    (effect,) = effects(0, MINUTE_MS, p99, [SWITCH])

    assert effect.p99 is not None
    assert effect.p99.ratio == pytest.approx(0.5, rel=0.1)
    assert effect.p99.high is not None
    assert effect.p99.high < 0.7


def test_a_switch_that_does_nothing_is_mostly_told_so() -> None:
    false = 0
    for seed in range(200):
        p99 = 200 * np.exp(np.random.default_rng(seed).normal(size=300) * 0.1)
        (effect,) = effects(0, MINUTE_MS, p99, [SWITCH])
        assert effect.p99 is not None
        assert effect.p99.low is not None
        assert effect.p99.high is not None
        false += not effect.p99.low <= 1 <= effect.p99.high

    assert false <= 30  # 5 % of 200 are 10; twelve blocks a side are few for a bootstrap


def test_the_next_switch_ends_the_hour_of_this_one() -> None:
    p99 = np.full(300, 100.0)
    p99[120:150], p99[150:] = 50.0, 400.0

    first, second = effects(0, MINUTE_MS, p99, [Switch("x", 150 * MINUTE_MS, "off"), SWITCH])

    assert first.p99 is not None
    assert second.p99 is not None
    assert first.switch == SWITCH
    assert first.p99.ratio == pytest.approx(0.5)
    assert second.p99.ratio == pytest.approx(8.0)


def test_a_switch_without_data_on_one_side_says_nothing() -> None:
    (effect,) = effects(0, MINUTE_MS, np.full(120, 100.0), [SWITCH])

    assert effect.p99 is None
