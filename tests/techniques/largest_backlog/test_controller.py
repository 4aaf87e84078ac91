"""Whether senders should take turns: outgoing backlogs of siblings, and how uneven they are."""

import pytest

from techniques.largest_backlog.backlogs import worst
from techniques.largest_backlog.controller import conditions, decide
from techniques.largest_backlog.technique import TECHNIQUE
from techniques.model import Decision, Mode, Past, Scalar
from techniques.options import OptionFault, checked
from techniques.view import View
from tests.techniques.pool.views import One, seen, view

CALM, BACKLOGGED = One(parked=1.0), One(parked=9.0)


def decided(view: View, past: Past, **given: Scalar) -> Decision | None:
    return decide(view, checked(TECHNIQUE.options, given), past)


def test_uneven_outgoing_backlogs_are_where_it_helps() -> None:
    found = conditions(seen(CALM, BACKLOGGED, CALM, CALM))

    assert found.hold
    assert "score-1 of score on node-a holds back 9.0 chunks" in found.why
    assert "in 600 of 600 windows" in found.why


@pytest.mark.parametrize(
    ("view", "hold", "why"),
    [
        (view(seconds=0), None, "nothing is known"),
        (view(), False, "df.transform(pooled("),
        (seen(One(chunks_per_s=1)), None, "fewer than 100 chunks"),
        (seen(BACKLOGGED), False, "nobody to take turns with"),
        (seen(One(), One()), False, "nothing waits"),
        (seen(CALM, CALM), False, "about even"),
    ],
)
def test_elsewhere_it_says_why_not(view: View, hold: bool | None, why: str) -> None:
    found = conditions(view)

    assert found.hold is hold
    assert why in found.why


def test_a_backlog_of_a_moment_is_no_reason() -> None:
    short = seen(One(), One())
    short.pools[0].instances[0].parked[-5:] = 30.0

    assert conditions(short).hold is False


def test_fairness_is_jains_index() -> None:
    found = worst(seen(CALM, BACKLOGGED))

    assert found is not None
    # (1 + 9)² / (2 · (1 + 81))
    assert found.jain == pytest.approx(100 / 164)


def test_the_papers_parameters_are_the_defaults() -> None:
    decision = decided(seen(CALM, BACKLOGGED), Past(Mode.ADVISE))

    assert decision is not None
    assert decision.settings == {"tau_ms": 80, "shared": False}
    assert decision.reason.startswith("every 80 ms the sibling with the largest backlog may send:")
    TECHNIQUE.settings.check(decision.settings)


def test_the_queue_that_they_send_to_may_be_a_shared_one() -> None:
    decision = decided(seen(CALM, BACKLOGGED), Past(Mode.ACT), tau=10, where="shared-queue")

    assert decision is not None
    assert decision.settings == {"tau_ms": 10, "shared": True}
    assert "into one shared queue" in decision.reason


@pytest.mark.parametrize(
    ("given", "bound"),
    [({"tau": 9}, "at least 10 ms"), ({"tau": 1_001}, "at most 1000 ms")],
)
def test_an_option_out_of_bounds_is_refused_with_the_bound(
    given: dict[str, Scalar], bound: str
) -> None:
    with pytest.raises(OptionFault, match=bound):
        checked(TECHNIQUE.options, given)


def test_act_is_carried_out_where_it_is_not_advised() -> None:
    even = seen(CALM, CALM)

    assert decided(even, Past(Mode.ADVISE)) is None
    acted = decided(even, Past(Mode.ACT))
    assert acted is not None
    assert "because it was asked for" in acted.reason
