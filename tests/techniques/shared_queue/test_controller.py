"""Whether a shared queue is advised: utilisation, and what Erlang C says that it gains."""

import pytest

from techniques.model import Mode, Past
from techniques.shared_queue.controller import conditions, decide
from techniques.shared_queue.prediction import best, predicted
from techniques.shared_queue.technique import TECHNIQUE
from techniques.view import View
from tests.techniques.pool.views import One, seen, view

# ρ = 200/s · 4 ms = 80 %.
BUSY = One(chunks_per_s=200, work_ms=4.0, wait_ms=9.0)


def test_well_used_queues_of_several_instances_are_where_it_helps() -> None:
    found = conditions(seen(*[BUSY] * 4))

    assert found.hold
    assert "4 instances, busy 80% of the time" in found.why
    # By hand: ρ/(1 − ρ) · 4 ms = 16 ms; C(4, 3.2) = 0.596, · 4 ms / (4 · 0.2) = 2.98 ms.
    assert "waits 16 ms on average with a queue each, 2.98 ms with one" in found.why


@pytest.mark.parametrize(
    ("view", "hold", "why"),
    [
        (view(seconds=0), None, "nothing is known"),
        (view(), False, "df.transform(pooled("),
        (seen(One(chunks_per_s=1)), None, "fewer than 100 chunks"),
        (seen(BUSY), False, "one instance"),
        (seen(*[One(chunks_per_s=100, work_ms=5)] * 4), False, "busy 50% of the time, less than"),
        # 2000/s · 0.4 ms: as busy, but a wait of 1.6 ms has no millisecond to give.
        (seen(*[One(chunks_per_s=2_000, work_ms=0.3)] * 2), False, "less than 1 ms to save"),
    ],
)
def test_elsewhere_it_says_why_not(view: View, hold: bool | None, why: str) -> None:
    found = conditions(view)

    assert found.hold is hold
    assert why in found.why


def test_the_wait_that_is_seen_stands_beside_the_prediction() -> None:
    decision = decide(seen(*[BUSY] * 4), {}, Past(Mode.ADVISE))

    assert decision is not None
    assert decision.settings == {"policy": "shared-queue"}
    TECHNIQUE.settings.check(decision.settings)
    evidence = {each.name: each.value for each in decision.evidence}
    assert evidence["mean wait, seen"] == "9 ms"
    assert evidence["mean wait, one queue (Erlang C)"] == "2.98 ms"


def test_instances_that_are_always_busy_have_a_prediction_too() -> None:
    prediction = best(seen(*[One(chunks_per_s=200, work_ms=6.0)] * 2))

    assert prediction is not None
    assert prediction.load.utilisation == 1
    assert prediction.helps
    assert 0 < prediction.shared_ms < prediction.separate_ms < 10_000


def test_an_idle_operator_waits_for_nothing() -> None:
    prediction = best(seen(*[One(work_ms=0.0)] * 2))

    assert prediction is not None
    assert predicted(prediction.load).separate_ms == 0
    assert not prediction.helps


def test_the_operator_of_a_chain_that_gains_is_named() -> None:
    idle = One(operator="parse")

    assert "score on node-a" in conditions(seen(idle, idle, BUSY, BUSY)).why


def test_act_is_carried_out_where_it_is_not_advised() -> None:
    calm = seen(One(), One())

    assert decide(calm, {}, Past(Mode.ADVISE)) is None
    acted = decide(calm, {}, Past(Mode.ACT))
    assert acted is not None
    assert "because it was asked for" in acted.reason
