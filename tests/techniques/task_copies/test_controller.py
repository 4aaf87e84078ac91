"""Whether copies are advised, after which age, and which stages are left out."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from techniques.model import Decision, Mode, Past, Scalar
from techniques.options import checked
from techniques.task_copies.algorithm import ABOVE_MEDIAN, FLOOR_MS
from techniques.task_copies.controller import conditions, decide
from techniques.task_copies.technique import SINK_CHOICES, TECHNIQUE
from techniques.view import Executor, View
from tests.techniques.task_copies.views import Row, batches, overtaken, view

# One task in fifty takes 900 ms instead of 100: p99 is nine times p90.
TAIL = [900.0 if at % 50 == 7 else 100.0 for at in range(300)]
ACT = Past(Mode.ACT, "run-1")
ONE_HOST = (Executor("driver", "node-0"), Executor("1", "node-1"), Executor("2", "node-1"))
SLOW_EXECUTOR = [300.0 if at % 2 else 100.0 for at in range(300)]


def decided(seen: View, past: Past = ACT, **given: Scalar) -> Decision | None:
    decision = decide(seen, checked(TECHNIQUE.options, given), past)
    if decision is not None:
        TECHNIQUE.settings.check(decision.settings)
    return decision


def acted(seen: View, past: Past = ACT, **given: Scalar) -> Decision:
    decision = decided(seen, past, **given)
    assert decision is not None
    return decision


def timeouts(decision: Decision) -> Mapping[str, Any]:
    found = decision.settings["timeouts_ms"]
    assert isinstance(found, Mapping)
    return found


def evidence(decision: Decision) -> dict[str, str]:
    return {each.name: each.value for each in decision.evidence}


def test_a_tail_at_moderate_load_is_where_it_helps() -> None:
    found = conditions(view(batches(TAIL), waiting=0.2))

    assert found.hold
    assert found.why == (
        "stage 1 has a long tail (p50 100 ms, p90 100 ms, p95 100 ms, p99 900 ms, p99.9 900 ms), "
        "and tasks wait for a slot 20% of the time"
    )


@pytest.mark.parametrize(
    ("seen", "hold", "why"),
    [
        (view([], seconds=0), None, "nothing is known"),
        (view(batches(TAIL), executors=()), None, "no executor is known"),
        (view(batches(TAIL), executors=ONE_HOST), False, "all executors are on node-1"),
        (view(batches(TAIL), executors=ONE_HOST[:1]), False, "local mode"),
        (view(batches(TAIL[:19])), None, "fewer than 20 tasks of a stage ended in the last 30 s"),
        (view(batches([100.0] * 300)), False, "no stage that may be copied has a long tail"),
        (view(batches(TAIL), waiting=0.7), False, "wait for a slot 70% of the time: copies would"),
        (view(batches(SLOW_EXECUTOR)), False, "Executor 2 takes 3.0 times as long as the others"),
        (view(batches(SLOW_EXECUTOR)), False, "a look at its host"),
        (
            view(batches(SLOW_EXECUTOR) + batches([9.0] * 300, kind=1, stateful=True)),
            False,
            "what helps is state balancing",
        ),
    ],
)
def test_elsewhere_it_says_why_not(seen: View, hold: bool | None, why: str) -> None:
    found = conditions(seen)

    assert found.hold is hold
    assert why in found.why


@pytest.mark.parametrize(
    "gone", [Executor("2", "node-2", left_ms=1), Executor("2", "node-2", leaving=True)]
)
def test_a_host_whose_executor_goes_is_no_second_host(gone: Executor) -> None:
    there = (Executor("1", "node-1"), gone)

    assert conditions(view(batches(TAIL), executors=there)).hold is False


def test_each_stage_has_a_timeout_of_its_own() -> None:
    rows = batches(TAIL) + batches([10.0] * 300, kind=2)

    decision = acted(view(rows), budget=7.5)

    assert decision.settings == {
        "timeouts_ms": {"0": 120, "2": FLOOR_MS},
        "costs_ms": {"0": 100, "2": 10},
        "budget_percent": 7.5,
        "sink": True,
        "left_out": {},
        "any_sink": False,
        "stateful": False,
        "run": "run-1",
    }
    assert decision.reason.startswith(
        "a task of stage 1 after 120 ms, of stage 3 after 50 ms gets a copy on another host, "
        "7.5 % of task time at most: stage 1 has a long tail"
    )
    said = evidence(decision)
    assert said["tasks of stage 1"].startswith("p50 100 ms, p90 100 ms")
    assert said["tasks of stage 1"].endswith("p99.9 900 ms; timeout 120 ms")
    assert (
        said["copies in the last 30 s"] == "0 made, 0 came first, 0 ms of task time wasted (0.0%)"
    )


def test_a_stage_of_few_tasks_has_no_timeout() -> None:
    decision = acted(view(batches(TAIL) + batches([10.0] * 19, kind=2)))

    assert timeouts(decision) == {"0": 120}


def test_only_the_period_counts() -> None:
    """The tail was in the first half minute of two."""
    rows = batches(TAIL + [100.0] * 300)

    assert conditions(view(rows, seconds=60)).hold is False
    assert decided(view(rows, seconds=60), Past(), period=60) is not None
    assert decided(view(rows, seconds=60), Past()) is None


@pytest.mark.parametrize(
    ("sink", "option", "copied"),
    [
        ("MemorySink", "when safe", True),
        ("ForeachBatchSink", "when safe", False),
        ("ForeachBatchSink", "always", True),
        ("MemorySink", "never", False),
        ("", "when safe", False),
    ],
)
def test_the_stage_that_writes_is_copied_where_its_sink_stands_it(
    sink: str, option: str, copied: bool
) -> None:
    rows = batches(TAIL) + batches(TAIL, kind=1, result=True)

    decision = acted(view(rows, sink=sink), sink=option)

    assert set(timeouts(decision)) == ({"0", "1"} if copied else {"0"})
    assert decision.settings["sink"] is copied
    assert ("left out" in evidence(decision)) is not copied


def test_the_card_says_which_stage_is_left_out_and_why() -> None:
    why = "stage 2, which writes to ForeachBatchSink, is left out: it would run twice"
    seen = view(batches(TAIL) + batches(TAIL, kind=1, result=True), sink="ForeachBatchSink")

    assert why in conditions(seen).why
    assert evidence(acted(seen))["left out"] == why
    assert acted(seen).settings["left_out"] == {"1": why}


def test_stateful_stages_are_left_out_until_they_are_asked_for() -> None:
    seen = view(batches(TAIL) + batches(TAIL, kind=1, stateful=True))

    assert set(timeouts(acted(seen))) == {"0"}
    assert "stage 2, which uses a state store, is left out" in conditions(seen).why
    asked_for = acted(seen, stateful=True)
    assert set(timeouts(asked_for)) == {"0", "1"}
    assert asked_for.settings["stateful"] is True


def test_where_every_stage_is_left_out_the_job_is_told_so() -> None:
    seen = view(batches(TAIL, result=True), sink="ForeachBatchSink")

    assert conditions(seen).hold is False
    assert decided(seen, Past()) is None
    decision = acted(seen)
    assert timeouts(decision) == {}
    assert "it would run twice" in str(decision.settings["left_out"])
    assert decision.reason.startswith("no task is copied, because it was asked for")


def test_advice_needs_conditions_and_act_is_the_operators_word() -> None:
    even = view(batches([100.0] * 300))

    assert decided(even, Past(Mode.ADVISE)) is None
    assert "because it was asked for: no stage that may be copied" in acted(even).reason


def test_a_decision_stays_while_too_few_tasks_end() -> None:
    assert decided(view(batches(TAIL[:10]))) is None


def test_a_timeout_that_hardly_moves_is_no_new_decision() -> None:
    slower = [each * 1.05 for each in TAIL]
    first = acted(view(batches(TAIL)))

    second = acted(view(batches(slower)), replace(ACT, decision=first))

    # The timeout may not be below 1.2 times the new median.
    assert timeouts(second) == {"0": 126}
    third = acted(view(batches(TAIL)), replace(ACT, decision=second))
    assert timeouts(third) == {"0": 126}


def test_copies_made_won_and_wasted_are_told() -> None:
    rows = batches(TAIL)
    slow = [row for row in rows if row.end_ms - row.start_ms > 500]
    rest = [row for row in rows if row not in slow]
    copied = [each for row in slow for each in overtaken(row, after_ms=120, copy_ms=100)]

    decision = acted(view([*rest, *copied]))

    assert timeouts(decision) == {"0": 120}
    said = evidence(decision)["copies in the last 30 s"]
    assert said == "6 made, 6 came first, 1.33 s of task time wasted (4.2%)"
    assert "p99 more than 221 ms" in evidence(decision)["tasks of stage 1"]


def test_it_is_said_where_only_the_slowest_tasks_are_known() -> None:
    tenth = [row for row in batches(TAIL * 4, tasks=40) if row.partition % 10 == 7]

    said = evidence(acted(view(tenth)))

    assert said["tasks known"].startswith("11% at most")
    assert "tasks known" not in evidence(acted(view(batches(TAIL))))


rows_of_stages = st.lists(
    st.builds(
        Row,
        start_ms=st.floats(0, 29_000),
        end_ms=st.just(0.0),
        stage=st.integers(0, 40),
        partition=st.integers(0, 5),
        kind=st.integers(-1, 2),
        executor=st.sampled_from(("1", "2")),
        speculative=st.booleans(),
        successful=st.booleans(),
        stateful=st.booleans(),
        result=st.booleans(),
    ).flatmap(
        lambda row: st.floats(0, 1_000).map(
            lambda duration_ms: replace(row, end_ms=row.start_ms + duration_ms)
        )
    ),
    max_size=120,
)


@given(rows_of_stages, st.sampled_from(SINK_CHOICES), st.booleans())
def test_whatever_is_seen_settings_are_within_their_bounds(
    rows: list[Row], sink: str, stateful: bool
) -> None:
    first = decided(view(rows), sink=sink, stateful=stateful)
    if first is None:
        return
    costs = first.settings["costs_ms"]
    assert isinstance(costs, Mapping)
    assert set(costs) == set(timeouts(first))
    for kind, timeout_ms in timeouts(first).items():
        cost_ms = costs[kind]
        assert isinstance(cost_ms, int)
        # The cost is the median, rounded, and at least 1 ms.
        assert timeout_ms >= max(FLOOR_MS, ABOVE_MEDIAN * (cost_ms - 1))
    # And the same again from the same.
    again = decided(view(rows), replace(ACT, decision=first), sink=sink, stateful=stateful)
    assert again is not None
    assert again.settings == first.settings
