"""Whether balancing is advised: how much slower one instance is than its siblings."""

import pytest

from techniques.latency_balancing.controller import conditions, decide
from techniques.latency_balancing.technique import TECHNIQUE
from techniques.model import Decision, Mode, Past, Scalar
from techniques.options import OptionFault, checked
from techniques.view import View
from tests.techniques.pool.views import One, pool, seen, view

FAST, SLOW = One(), One(work_ms=9.0, wait_ms=11.0)


def decided(view: View, past: Past, **given: Scalar) -> Decision | None:
    return decide(view, checked(TECHNIQUE.options, given), past)


def test_an_instance_that_is_much_slower_is_where_it_helps() -> None:
    found = conditions(seen(FAST, SLOW, FAST, FAST))

    assert found.hold
    assert "chunks at score-1 of score on node-a take 20 ms on average" in found.why
    assert "5.0 × those at its siblings (4 ms)" in found.why


@pytest.mark.parametrize(
    ("view", "hold", "why"),
    [
        (view(seconds=0), None, "nothing is known"),
        (view(), False, "df.transform(pooled("),
        (seen(One(chunks_per_s=1), SLOW, seconds=0), None, "nothing is known"),
        (seen(SLOW), False, "one instance"),
        (seen(FAST, FAST, FAST), False, "1.0 × those at its siblings"),
        # One call of two seconds: a higher mean, and no slower instance.
        (
            seen(FAST, One(tail_every=1_500, tail_ms=9_000)),
            False,
            "not for good: its median is 1.0 ×",
        ),
        (seen(FAST, One(chunks_per_s=0)), None, "fewer than two instances"),
    ],
)
def test_elsewhere_it_says_why_not(view: View, hold: bool | None, why: str) -> None:
    found = conditions(view)

    assert found.hold is hold
    assert why in found.why


def test_weights_that_keep_latencies_even_are_still_needed() -> None:
    weighted = [One(weight=weight) for weight in (30.0, 30.0, 30.0, 10.0)]

    assert "weights of 10.0 % to 30.0 %" in conditions(view(pool(weighted, policy=3))).why
    # Of another policy they are of no meaning.
    assert conditions(view(pool(weighted, policy=0))).hold is False
    assert conditions(view(pool([One(weight=25.0)] * 4, policy=3))).hold is False


def test_the_papers_parameters_are_the_defaults() -> None:
    decision = decided(seen(FAST, SLOW), Past(Mode.ADVISE))

    assert decision is not None
    assert decision.settings == {
        "policy": "latency-weighted",
        "balance_period_ms": 5_000,
        "balance_alpha": 500,
        "balance_threshold": 1_200,
        "balance_unit": 100,
    }
    assert decision.reason.startswith("every 5 s each sender moves 1 % of its chunks")
    TECHNIQUE.settings.check(decision.settings)
    names = [each.name for each in decision.evidence]
    assert "mean chunk latency of score-1" in names
    assert "queue utilisation (busy share of instances)" in names


@pytest.mark.parametrize(
    ("by", "says"),
    [("power-of-two", "the shorter of two queues"), ("fewest-queued", "the shortest queue")],
)
def test_what_an_expert_would_try_instead_is_a_choice(by: str, says: str) -> None:
    decision = decided(seen(FAST, SLOW), Past(Mode.ACT), by=by)

    assert decision is not None
    assert decision.settings["policy"] == by
    assert says in decision.reason


@pytest.mark.parametrize(
    ("given", "bound"),
    [
        ({"threshold": 0.9}, "at least 1"),
        ({"alpha": 0}, "at least 0.001"),
        ({"unit": 11}, "at most 10 %"),
        ({"by": "round-robin"}, "one of latency-weighted"),
    ],
)
def test_an_option_out_of_bounds_is_refused_with_the_bound(
    given: dict[str, Scalar], bound: str
) -> None:
    with pytest.raises(OptionFault, match=bound):
        checked(TECHNIQUE.options, given)


def test_act_is_carried_out_where_it_is_not_advised() -> None:
    even = seen(FAST, FAST)

    assert decided(even, Past(Mode.ADVISE)) is None
    acted = decided(even, Past(Mode.ACT))
    assert acted is not None
    assert "because it was asked for: no instance is much slower" in acted.reason
