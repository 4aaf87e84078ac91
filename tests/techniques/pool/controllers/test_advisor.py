"""What measured best is recommended, and only where the intervals are apart."""

from dataclasses import replace

from techniques.options import checked
from techniques.pool.controllers.advisor import MEASURED, Arm, Condition, better
from techniques.registry import Registry

COMMAND = "./curtail bench load-balancing"
PAPER = Arm("latency_balancing", "latency weights", 0.60, 0.55, 0.66, COMMAND, "none was seen")
SHORTEST = Arm(
    "latency_balancing",
    "the shortest queue",
    0.40,
    0.35,
    0.46,
    COMMAND,
    "every sender reads all queue lengths",
    {"by": "fewest-queued"},
)


def test_with_nothing_measured_the_card_stands_as_the_paper_has_it() -> None:
    assert better("latency_balancing", Condition.UNEVEN, {}) is None
    assert better("latency_balancing", Condition.UNEVEN, {Condition.UNEVEN: (SHORTEST,)}) is None


def test_what_measured_better_is_said_with_its_numbers_and_how_to_switch_it() -> None:
    advice = better("latency_balancing", Condition.UNEVEN, {Condition.UNEVEN: (PAPER, SHORTEST)})

    assert advice is not None
    assert advice.title == "the shortest queue"
    assert "× 0.40 (0.35 to 0.46) of round robin" in advice.why
    assert "latency weights × 0.60 (0.55 to 0.66)" in advice.why
    assert COMMAND in advice.why
    assert advice.line == "latency_balancing: act, by = fewest-queued"
    assert advice.price == "every sender reads all queue lengths"


def test_intervals_that_overlap_are_no_reason_to_contradict() -> None:
    close = replace(SHORTEST, high=0.55)

    assert better("latency_balancing", Condition.UNEVEN, {Condition.UNEVEN: (PAPER, close)}) is None


def test_of_the_best_technique_nothing_better_is_said() -> None:
    worse = replace(SHORTEST, ratio=0.9, low=0.8, high=1.0)

    assert better("latency_balancing", Condition.UNEVEN, {Condition.UNEVEN: (PAPER, worse)}) is None


def test_another_condition_says_nothing_of_this_one() -> None:
    assert (
        better("latency_balancing", Condition.TAIL, {Condition.UNEVEN: (PAPER, SHORTEST)}) is None
    )


def test_every_arm_of_the_table_can_be_switched() -> None:
    known = Registry().techniques
    arms = [*(arm for arms in MEASURED.values() for arm in arms), PAPER, SHORTEST]

    for arm in arms:
        checked(known[arm.technique].options, arm.options)
        assert arm.low <= arm.ratio <= arm.high
