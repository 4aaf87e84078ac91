"""Whether replays are advised, by the pool's own numbers."""

import numpy as np
import pytest

from techniques.adaptive_timeout.controller import conditions, decide
from techniques.adaptive_timeout.technique import TECHNIQUE
from techniques.model import Decision, Mode, Past, Scalar
from techniques.options import OptionFault, checked
from techniques.view import View
from tests.techniques.pool.views import One, seen, view

# One chunk in fifty takes 40 ms instead of 4: p99 is ten times p90.
TAIL = One(tail_every=50, tail_ms=40.0)
ACT = Past(Mode.ACT)


def decided(view: View, past: Past, **given: Scalar) -> Decision | None:
    return decide(view, checked(TECHNIQUE.options, given), past)


def acted(view: View, **given: Scalar) -> Decision:
    decision = decided(view, ACT, **given)
    assert decision is not None
    return decision


def test_a_long_tail_at_low_load_is_where_it_helps() -> None:
    found = conditions(seen(*[TAIL] * 4))

    assert found.hold
    assert "p99 of chunks is 10.0 × p90" in found.why
    assert "busy 30% of the time" in found.why


@pytest.mark.parametrize(
    ("view", "hold", "why"),
    [
        (view(seconds=0), None, "nothing is known"),
        (view(), False, "df.transform(pooled(your_function, schema, instances=8))"),
        (seen(TAIL, TAIL, seconds=0), None, "nothing is known"),
        (seen(One(chunks_per_s=1)), None, "fewer than 100 chunks"),
        (seen(TAIL), False, "one instance"),
        (seen(One(), One()), False, "no long tail"),
        (seen(*[One(work_ms=7, tail_every=50, tail_ms=80)] * 2), False, "busy 70% of the time"),
    ],
)
def test_elsewhere_it_says_why_not(view: View, hold: bool | None, why: str) -> None:
    found = conditions(view)

    assert found.hold is hold
    assert why in found.why


def test_of_several_operators_the_one_that_can_be_helped_is_named() -> None:
    full = One(work_ms=9, tail_every=50, tail_ms=200, operator="parse")

    found = conditions(seen(full, full, TAIL, TAIL))

    assert found.hold
    assert "score on node-a" in found.why


def test_the_papers_parameters_are_the_defaults() -> None:
    decision = decided(seen(TAIL, TAIL), Past())

    assert decision is not None
    assert decision.settings == {"replay": 1, "replay_budget": 500, "replay_period_ms": 1_000}
    TECHNIQUE.settings.check(decision.settings)
    evidence = {each.name: each.value for each in decision.evidence}
    assert evidence["queue utilisation (busy share of instances)"] == "30%"
    assert evidence["chunk latency"] == "p90 4 ms, p99 40 ms, 10.0 ×"


def test_a_hedge_at_p95_is_the_experts_alternative() -> None:
    decision = acted(seen(TAIL, TAIL), rule="hedge", budget=0.1, period=60)

    assert decision.settings == {"replay": 2, "replay_budget": 10, "replay_period_ms": 60_000}
    assert "older than p95 is sent again, 0.1 % of them at most" in decision.reason
    TECHNIQUE.settings.check(decision.settings)


@pytest.mark.parametrize(
    ("given", "bound"),
    [
        ({"budget": 0.05}, "at least 0.1"),
        ({"budget": 51}, "at most 50"),
        ({"period": 0.01}, "at least 0.1 s"),
        ({"rule": "blind"}, "adaptive, hedge"),
    ],
)
def test_an_option_out_of_bounds_is_refused_with_the_bound(
    given: dict[str, Scalar], bound: str
) -> None:
    with pytest.raises(OptionFault, match=bound):
        checked(TECHNIQUE.options, given)


def test_advice_needs_conditions_and_act_is_the_operators_word() -> None:
    short = seen(One(), One())

    assert decided(short, Past(Mode.ADVISE)) is None
    assert "because it was asked for: of score on node-a" in acted(short).reason
    # Without a pool the job refuses, with the line of code that would change that.
    assert acted(view()).settings["replay"] == 1


def test_a_window_that_is_not_known_does_not_matter() -> None:
    gap = seen(*[TAIL] * 4)
    for each in gap.pools[0].instances:
        for values in (each.busy, each.executed, each.queued):
            values[-100:-90] = np.nan

    assert conditions(gap).hold
