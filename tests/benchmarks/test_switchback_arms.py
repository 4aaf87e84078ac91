"""Which blocks there are, in which order, and what each asks."""

from collections import Counter
from itertools import permutations
from statistics import fmean

import pytest

from benchmarks.switchback.arms import (
    ALL,
    CHANGELOG,
    CONTROL,
    CORE,
    DELAY,
    HIGH,
    OFF,
    SNAPSHOTS,
    SPARKS,
    THREADS,
    THRESHOLDS,
    Block,
    Draw,
    blocks,
    orders,
    seeds,
    starts,
)
from benchmarks.switchback.regimes import MAP, SETTINGS
from techniques.orders import JobFacts
from techniques.schema import Settings
from techniques.shadowsync.algorithm import THRESHOLD, alpha
from techniques.shadowsync.realizer import orders as realized

JOB = JobFacts("query", "run")

EXTRA = (DELAY, THREADS, ALL)


def values(block: Block) -> Settings:
    """What executors are told in it."""
    assert block.settings is not None
    return realized(block.settings, JOB)[0].values


def test_six_rounds_of_three_arms_are_all_their_orders() -> None:
    assert sorted(orders(6)) == sorted(permutations(CORE))


@pytest.mark.parametrize("extra", [(), EXTRA])
def test_within_two_rounds_every_arm_is_as_early_as_late(extra: tuple[str, ...]) -> None:
    for first, second in zip(*[iter(orders(8, extra))] * 2, strict=True):
        places: Counter[str] = Counter()
        for order in (first, second):
            places.update({arm: at for at, arm in enumerate(order)})
        assert set(places.values()) <= {len(first) - 1}


def test_the_extra_arms_come_in_every_second_pair_of_rounds_from_the_first_on() -> None:
    has_extra = [ALL in order for order in orders(6, EXTRA)]

    assert has_extra == [True, True, False, False, True, True]
    assert all(set(CORE) <= set(order) for order in orders(6, EXTRA))


def test_all_stores_are_brought_in_step_before_every_block() -> None:
    for number in (0, 1):
        for block in blocks(number, (*CORE, *EXTRA), seed=3, delay_ms=64):
            assert block.rephase is not None
            assert block.rephase["in_step"] is True
            assert realized(block.rephase, JOB)


def test_off_stays_in_step_at_four_and_the_control_at_five_and_six_in_turn() -> None:
    even, odd = (
        {block.arm: block for block in blocks(number, CORE, seed=3, delay_ms=None)}
        for number in (0, 1)
    )

    assert even[OFF].settings == even[OFF].rephase == {"in_step": True, "base": THRESHOLD}
    assert even[CONTROL].settings == even[CONTROL].rephase == {"in_step": True, "base": 5}
    assert odd[CONTROL].settings == odd[CONTROL].rephase == {"in_step": True, "base": 6}


def test_each_part_asks_for_itself_alone_and_all_for_the_three_together() -> None:
    asked = {
        block.arm: values(block) for block in blocks(0, (THRESHOLDS, *EXTRA), seed=3, delay_ms=64)
    }

    def parts(arm: str) -> tuple[bool, bool, bool]:
        order = asked[arm]
        return order["spread"] == 4, order["delay_ms"] == 64, bool(order["flush_on_all_cores"])

    assert parts(THRESHOLDS) == (True, False, False)
    assert parts(DELAY) == (False, True, False)
    assert parts(THREADS) == (False, False, True)
    assert parts(ALL) == (True, True, True)
    assert asked[ALL]["seed"] == 3
    assert not any(order["in_step"] for order in asked.values())


def test_where_no_delay_fits_there_is_no_such_block_and_all_goes_without() -> None:
    found = {block.arm: block for block in blocks(0, EXTRA, seed=3, delay_ms=None)}

    assert set(found) == {THREADS, ALL}
    assert values(found[ALL])["delay_ms"] == 0


@pytest.mark.parametrize("draw", [SPARKS, HIGH])
@pytest.mark.parametrize("name", [*SETTINGS, *MAP])
def test_every_seed_draws_thresholds_as_high_on_average_as_the_controls(
    name: str, draw: Draw
) -> None:
    stores = {**SETTINGS, **MAP}[name].stores
    found = seeds(stores, 20, draw)

    assert len(set(found)) == 20
    for seed in found:
        drawn = [draw.base + alpha(seed, *store, spread=draw.spread) for store in stores]
        assert fmean(drawn) == pytest.approx(fmean(draw.controls), abs=0.25)


def test_high_thresholds_are_seven_to_fourteen_with_a_control_of_ten_and_eleven() -> None:
    even, odd = (
        {block.arm: block for block in blocks(number, CORE, 3, None, draw=HIGH)}
        for number in (0, 1)
    )

    treatment = values(even[THRESHOLDS])
    assert (treatment["base"], treatment["spread"], treatment["in_step"]) == (7, 8, False)
    assert even[CONTROL].settings == even[CONTROL].rephase == {"in_step": True, "base": 10}
    assert odd[CONTROL].settings == odd[CONTROL].rephase == {"in_step": True, "base": 11}
    assert even[OFF].settings == {"in_step": True, "base": THRESHOLD}
    assert [even[arm].cycle for arm in CORE] == [4, 10, 11]


def test_nothing_is_asked_of_a_job_with_changelogs_but_phases_of_its_snapshots() -> None:
    plain, phased = blocks(0, (CHANGELOG, SNAPSHOTS), seed=3, delay_ms=None)

    assert (plain.rephase, plain.settings) == (None, None)
    assert phased.rephase is None
    order = values(phased)
    assert (order["snapshots"], order["spread"], order["base"]) == (True, 1, 0)


def test_starts_with_and_without_changelogs_alternate_and_mirror_each_other() -> None:
    first, second, third, _ = starts(4)

    assert first == third == ((OFF, THRESHOLDS), (CHANGELOG, SNAPSHOTS))
    assert second == ((SNAPSHOTS, CHANGELOG), (THRESHOLDS, OFF))


def test_a_regime_with_changelogs_is_the_same_but_for_a_flag() -> None:
    regime = SETTINGS["statistical"]
    assert sorted(regime.with_changelog.words) == sorted((*regime.words, "--changelog"))


def test_a_regime_is_a_command_line_of_an_example() -> None:
    assert SETTINGS["statistical"].words == (
        *("--partitions", "4", "--setting", "statistical"),
        *("--messages", "400", "--disk-mb-s", "125"),
    )
    assert len(SETTINGS["statistical"].stores) == 8
