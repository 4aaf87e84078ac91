"""Detectors against traces with known truth, and against themselves moved and scaled."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from techniques.detection import find_all
from techniques.detection.checkpoints import stages
from techniques.detection.finding import Finding
from techniques.detection.ordinals import nth
from techniques.view import Resource, ResourceKind, View
from tests.techniques.detection.traces import (
    PLANTED,
    START_MS,
    Setting,
    by_kind,
    louder,
    moved,
    trace,
    until,
)


def kinds(found: list[Finding]) -> set[str]:
    return {finding.kind for finding in found}


def only(kind: str, view: View) -> Finding:
    return next(finding for finding in find_all(view) if finding.kind == kind)


@pytest.mark.parametrize("kind", PLANTED)
def test_what_is_planted_is_found_in_at_least_19_of_20(kind: str) -> None:
    found = [
        kind in kinds(find_all(trace(replace(PLANTED[kind], seed=seed)))) for seed in range(20)
    ]

    assert sum(found) >= 19


@pytest.mark.parametrize("kind", ["millibottleneck", "scheduled_shadowsync", "gc_shadow"])
def test_what_came_again_is_known_a_second_after_its_end(kind: str) -> None:
    """Where latency rose the worker looks every two seconds: three seconds at most."""
    known = 0
    for seed in range(20):
        view = trace(replace(PLANTED[kind], seed=seed))
        last_ms = only(kind, view).end_ms
        found = [each for each in find_all(until(view, last_ms + 1_000)) if each.kind == kind]
        known += any(each.end_ms >= last_ms - 1_000 for each in found)

    assert known >= 19


@pytest.mark.parametrize("kind", ["scheduled_shadowsync", "statistical_shadowsync"])
def test_shadowsync_is_known_within_ten_seconds_of_its_second_recurrence(kind: str) -> None:
    known = 0
    for seed in range(20):
        view = trace(replace(PLANTED[kind], seed=seed))
        third_ms = only(kind, view).spans_ms[2][0]
        known += kind in kinds(find_all(until(view, third_ms + 10_000)))

    assert known >= 19


def test_three_hours_of_healthy_traffic_have_at_most_one_false_finding() -> None:
    found = [
        (seed, finding)
        for seed in range(100, 190)
        for finding in find_all(trace(Setting(seed=seed)))
    ]

    assert len(found) <= 1, [(seed, finding.kind, finding.p_value) for seed, finding in found]


def test_a_full_run_queue_with_its_spike_is_found_and_beside_a_full_cpu_told_once() -> None:
    view = trace(PLANTED["millibottleneck"])
    (cpu,) = view.use.values()
    queue = Resource(ResourceKind.RUN_QUEUE, "node-a")
    alone = replace(view, use={queue: cpu.copy()})
    both = replace(view, use={queue: cpu.copy(), **view.use})

    assert only("millibottleneck", alone).title.startswith("run queue of node-a")
    assert [each.title.split()[0] for each in find_all(both)] == ["CPU"]


def test_a_single_saturation_with_its_spike_is_found() -> None:
    found = [
        "millibottleneck" in kinds(find_all(trace(Setting(seed=seed, saturations_s=(60.2,)))))
        for seed in range(20)
    ]

    assert sum(found) >= 19


def test_saturation_without_a_spike_is_nobodys_incident() -> None:
    view = trace(Setting(saturations_s=(20.0, 50.0, 80.0), spike=1.0))

    assert "millibottleneck" not in kinds(find_all(view))


def test_a_resource_that_is_always_full_is_no_millibottleneck() -> None:
    view = trace(Setting(saturations_s=(20.0, 50.0)))
    for use in view.use.values():
        use[:] = np.maximum(use, 0.9)

    assert "millibottleneck" not in kinds(find_all(view))


def test_a_shadowsync_says_which_stage_how_often_and_when_again() -> None:
    finding = only("scheduled_shadowsync", trace(Setting(in_phase=(0,))))

    assert finding.operators == (0,)
    assert finding.period_ms == pytest.approx(4_000, rel=0.05)
    assert finding.next_expected_ms is not None
    assert finding.next_expected_ms > finding.spans_ms[-1][0]
    assert finding.technique == "shadowsync"
    evidence = {each.name: each.value for each in finding.evidence}
    assert evidence["instances in phase"] == "8 of 8"
    assert evidence["flushes per compaction"] == "4"
    assert float(evidence["p-value: independent phases would agree"]) < 1e-3


def test_table_1_has_flushes_and_compactions_of_each_checkpoint() -> None:
    rows = only("scheduled_shadowsync", trace(Setting(in_phase=(0,)))).table

    assert [row["flushes"] for row in rows] == [8] * len(rows)
    assert sorted({row["compactions"] for row in rows}) == [0, 8]
    assert all(row["flush_mb"] == 8.0 for row in rows)


def test_in_phase_compaction_that_costs_no_latency_is_no_finding() -> None:
    view = trace(Setting(in_phase=(0,), spike=1.0))

    assert "scheduled_shadowsync" not in kinds(find_all(view))


def test_what_every_second_batch_costs_is_not_put_down_to_every_fourth() -> None:
    view = trace(Setting(in_phase=(0,), spike=1.0))
    # In step with the checkpoints that compact, and with those half a cycle apart.
    slow = np.arange(len(view)) // 20 % 2 == 0
    for p99_ms in (view.p99_ms, view.p999_ms):
        p99_ms[slow] *= 1.4

    assert "scheduled_shadowsync" not in kinds(find_all(view))


def test_stages_in_phase_recur_at_the_least_common_multiple() -> None:
    finding = only("statistical_shadowsync", trace(Setting(in_phase=(0, 1), stages_in_phase=True)))

    assert finding.operators == (0, 1)
    assert finding.period_ms == pytest.approx(4_000, rel=0.05)


def test_a_straggler_is_named() -> None:
    assert only("straggler", trace(Setting(slow_executor=2.0))).executors == ("2",)


def test_a_slow_batch_that_shadowsync_explains_is_not_told_beside_it() -> None:
    explained = kinds(find_all(trace(Setting(in_phase=(0,), slow_every=4))))
    other = kinds(find_all(trace(Setting(in_phase=(0,), slow_every=10))))

    assert "scheduled_shadowsync" in explained & other
    assert "periodic_slow_batch" in other - explained


def test_flushes_of_one_batch_are_one_checkpoint_however_far_apart() -> None:
    seen = trace(Setting(batch_ms=4_000))
    # On a slow disk the second half of the stores flushes when the first has been uploaded.
    slow = [
        replace(each, start_ms=each.start_ms + 900, end_ms=each.end_ms + 900)
        if each.kind == "flush" and (each.partition or 0) >= 4
        else each
        for held in seen.intervals.values()
        for each in held
    ]
    view = replace(seen, intervals=by_kind(slow))

    *told, _, _ = stages(view)[0].checkpoints
    assert {len(each.flushes) for each in told} == {8}


def test_every_tenth_batch_is_told_as_every_tenth() -> None:
    finding = only("periodic_slow_batch", trace(Setting(slow_every=10)))

    assert finding.period_ms == pytest.approx(10_000, rel=0.01)
    assert finding.spans_ms[0][0] == START_MS + 3_000


def test_nothing_known_is_nothing_found() -> None:
    view = trace(Setting(seconds=0))

    assert find_all(view) == []


@settings(max_examples=20, deadline=None)
@given(
    st.sampled_from(sorted(PLANTED)),
    st.integers(-(10**9), 10**9),
    st.floats(0.3, 5),
    st.integers(0, 10),
)
def test_time_and_load_do_not_change_the_verdict(
    kind: str, by_ms: int, times: float, seed: int
) -> None:
    view = trace(replace(PLANTED[kind], seed=seed))

    assert kinds(find_all(louder(moved(view, by_ms * 50), times))) == kinds(find_all(view))


@pytest.mark.parametrize(
    ("number", "words"), [(2, "second"), (11, "11th"), (13, "13th"), (21, "21st"), (102, "102nd")]
)
def test_every_nth_in_words(number: int, words: str) -> None:
    assert nth(number) == words
