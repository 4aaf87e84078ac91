"""What the controller decides for traces with known truth."""

from dataclasses import replace

import numpy as np
import pytest

from techniques.model import Decision, Scalar
from techniques.options import checked
from techniques.shadowsync.controller import conditions, decide
from techniques.shadowsync.technique import TECHNIQUE
from techniques.view import View
from tests.techniques.detection.traces import Setting, trace

SCHEDULED = Setting(in_phase=(0,))
STATISTICAL = Setting(in_phase=(0, 1), stages_in_phase=True)
SPREAD = Setting()
NONE = np.zeros(0)
EMPTY = View(0, NONE, NONE, NONE, NONE, NONE, NONE)


def options(**given: Scalar) -> dict[str, Scalar]:
    return checked(TECHNIQUE.options, given)


def decided(view: View, **given: Scalar) -> Decision:
    decision = decide(view, options(**given))
    assert decision is not None
    return decision


def without(view: View, kind: str) -> View:
    return replace(view, intervals={k: v for k, v in view.intervals.items() if k != kind})


def said(decision: Decision, name: str) -> str:
    return next(each.value for each in decision.evidence if each.name == name)


@pytest.mark.parametrize("setting", [SCHEDULED, STATISTICAL])
def test_it_helps_where_compactions_are_in_phase_and_latency_follows(setting: Setting) -> None:
    found = conditions(trace(setting))

    assert found.hold
    assert "compact" in found.why


@pytest.mark.parametrize(
    ("view", "hold", "why"),
    [
        (EMPTY, None, "nothing is known"),
        (without(trace(SPREAD), "flush"), False, "no state store flushed"),
        (trace(replace(SCHEDULED, instances=1)), False, "one state store per stage"),
        (trace(replace(SPREAD, seconds=3)), None, "too few compactions"),
        (trace(SPREAD), False, "different checkpoints already"),
    ],
)
def test_elsewhere_it_says_why_not(view: View, hold: bool | None, why: str) -> None:
    found = conditions(view)

    assert found.hold is hold
    assert why in found.why


def test_compactions_in_phase_that_latency_does_not_notice_are_no_reason() -> None:
    view = trace(SCHEDULED)
    view.p99_ms[:] = 200.0

    assert conditions(view).hold is False
    assert decide(view, options()) is None


def test_scheduled_shadowsync_gets_thresholds_and_statistical_threads_as_well() -> None:
    scheduled, statistical = decided(trace(SCHEDULED)), decided(trace(STATISTICAL))

    assert scheduled.settings["thresholds"] is True
    assert scheduled.settings["threads"] is False
    assert statistical.settings["thresholds"] is True
    assert statistical.settings["threads"] is True
    assert "Stage 0" in said(scheduled, "found")
    assert "Stages 0 and 1" in said(statistical, "found")


def test_each_part_is_an_option_of_its_own() -> None:
    view = trace(STATISTICAL)

    assert decided(view, thresholds=False).settings["thresholds"] is False
    assert decided(view, threads=False).settings["threads"] is False
    assert decided(view, compaction_threads=3).settings["compaction_threads"] == 3
    assert decided(view, seed=7, spread=3).settings.items() >= {"seed": 7, "spread": 3}.items()
    assert decided(view, lowest=7).settings["lowest"] == 7
    assert decided(view).settings["lowest"] == 4


def test_threads_are_left_alone_where_stages_do_not_meet() -> None:
    assert decided(trace(SCHEDULED), compaction_threads=3).settings["compaction_threads"] == 0


def test_a_delay_follows_from_the_measured_load() -> None:
    decision = decided(trace(SCHEDULED), delay=True)

    # 60 % busy, flushes of one checkpoint over some 100 ms: they drain within 60 ms or so.
    assert decision.settings["delay_ms"] == 64
    assert "λ" in said(decision, "compaction waits")
    assert decided(trace(SCHEDULED)).settings["delay_ms"] == 0


def test_where_no_delay_fits_it_says_so_and_does_the_rest() -> None:
    view = trace(SCHEDULED)
    batches = [replace(each, end_ms=each.start_ms + 1_100) for each in view.intervals["batch"]]
    full = replace(view, intervals={**view.intervals, "batch": batches})
    decision = decided(full, delay=True)

    assert decision.settings["delay_ms"] == 0
    assert decision.settings["thresholds"] is True
    assert "no delay" in said(decision, "compaction waits")


def test_nothing_is_decided_without_shadowsync_unless_it_is_asked_for() -> None:
    assert decide(trace(SPREAD), options()) is None
    assert decide(EMPTY, options(preventive=True)) is None

    asked_for = decided(trace(SPREAD), preventive=True)
    assert asked_for.settings["thresholds"] is True
    assert asked_for.settings["threads"] is False


def test_what_ended_a_while_ago_changes_nothing_any_more() -> None:
    """So a decision stays as it is when it has worked."""
    view = trace(SCHEDULED)
    calm_from_ms = view.end_ms - 45_000
    compactions = [each for each in view.intervals["compaction"] if each.start_ms < calm_from_ms]
    calmed = replace(view, intervals={**view.intervals, "compaction": compactions})

    assert decide(view, options()) is not None
    assert decide(calmed, options()) is None


def test_the_same_windows_lead_to_the_same_decision() -> None:
    assert decided(trace(SCHEDULED)) == decided(trace(SCHEDULED))
