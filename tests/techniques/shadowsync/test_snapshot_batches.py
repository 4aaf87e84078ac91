"""Snapshots of changelog stores in traces with known truth, and what is decided on them."""

from dataclasses import replace

import numpy as np
import pytest

from techniques.detection.changelogs import with_changelogs
from techniques.model import Decision, Scalar
from techniques.options import checked
from techniques.shadowsync.controller import conditions, decide
from techniques.shadowsync.snapshot_batches import snapshot_stages
from techniques.shadowsync.snapshots import offset
from techniques.shadowsync.technique import TECHNIQUE
from techniques.view import WINDOW_MS, Interval, View
from tests.techniques.detection.traces import Setting, trace

PARTITIONS = 8
EVERY = 10
SPREAD = tuple(offset(1, 0, each, EVERY) for each in range(PARTITIONS))
IN_STEP = (0,) * PARTITIONS


def with_snapshots(offsets: tuple[int, ...], slower: float = 4.0, uploads: int = 60) -> View:
    """A batch a second that commits in all partitions and writes the snapshots that are due;
    `uploads`: every how many batches their maintenance comes, 1 where every commit uploads."""
    view = trace(Setting(stages=1, seconds=120))
    batches = list(view.intervals["batch"])
    commits, flushes, uploaded = [], [], []
    p99_ms = view.p99_ms.copy()
    for version, batch in enumerate(batches, start=1):
        due = [p for p, at in enumerate(offsets) if (version + at) % EVERY == 0]
        for partition in range(PARTITIONS):
            at_ms = batch.start_ms + 300 + partition
            store = {"executor": "1", "operator": 0, "partition": partition}
            commits.append(Interval("commit", at_ms, at_ms + 60, **store))  # type: ignore[arg-type]
            if partition in due or uploads == 1:
                flushes.append(Interval("flush", at_ms + 5, at_ms + 30, **store))  # type: ignore[arg-type]
            if version % uploads == 0:
                uploaded.append(Interval("snapshot", at_ms + 31, at_ms + 55, **store))  # type: ignore[arg-type]
        if len(due) == PARTITIONS:
            first = int(batch.start_ms - view.start_ms) // WINDOW_MS
            p99_ms[first : first + 12] *= slower
    made = {"batch": batches, "commit": commits, "flush": flushes, "snapshot": uploaded}
    return replace(view, p99_ms=p99_ms, intervals=made)


def options(**given: Scalar) -> dict[str, Scalar]:
    return checked(TECHNIQUE.options, given)


def decided(view: View, **given: Scalar) -> Decision:
    decision = decide(view, options(**given))
    assert decision is not None
    return decision


def test_snapshots_in_the_same_batch_are_seen_with_their_period() -> None:
    (stage,) = snapshot_stages(with_snapshots(IN_STEP))

    assert (stage.operator, stage.instances, stage.every) == (0, PARTITIONS, EVERY)
    assert stage.share == 1.0
    assert stage.is_noticed


def test_those_that_are_spread_are_not_together() -> None:
    (stage,) = snapshot_stages(with_snapshots(SPREAD))

    assert stage.share == pytest.approx(1 / PARTITIONS)
    assert stage.every == EVERY
    assert not stage.in_phase


def test_a_store_that_uploads_at_every_commit_keeps_no_changelog() -> None:
    assert with_changelogs(with_snapshots(IN_STEP)) == [0]
    assert with_changelogs(with_snapshots(IN_STEP, uploads=1)) == []
    assert snapshot_stages(with_snapshots(IN_STEP, uploads=1)) == []


def test_a_flush_between_commits_is_no_snapshot() -> None:
    view = with_snapshots(SPREAD)
    full = [replace(each, start_ms=each.start_ms - 200) for each in view.intervals["flush"]]
    moved = replace(view, intervals={**view.intervals, "flush": full})

    assert snapshot_stages(moved) == []
    assert with_changelogs(moved) == [0]


def test_a_batch_that_has_not_ended_yet_does_not_count() -> None:
    view = with_snapshots(IN_STEP)
    known = replace(view, intervals={**view.intervals, "batch": view.intervals["batch"][:15]})
    (stage,) = snapshot_stages(known)

    assert stage.batch.tolist() == [9] * PARTITIONS
    assert stage.every is None


@pytest.mark.parametrize(
    ("view", "hold", "why"),
    [
        (with_snapshots(IN_STEP), True, "100% of 8 state stores write their snapshots in the same"),
        (with_snapshots(IN_STEP, slower=1.0), False, "p99 is not found to be higher"),
        (with_snapshots(SPREAD), False, "in different batches already"),
    ],
)
def test_the_card_says_whether_it_helps(view: View, hold: bool, why: str) -> None:
    found = conditions(view)

    assert found.hold is hold
    assert why in found.why


def test_snapshots_that_latency_notices_are_spread_and_nothing_else_is_done() -> None:
    decision = decided(with_snapshots(IN_STEP))

    assert decision.settings["snapshots"] is True
    assert decision.settings["thresholds"] is False
    assert decision.settings["threads"] is False
    assert ("partitions that snapshot in the same batch", "100%") in [
        (each.name, each.value) for each in decision.evidence
    ]
    assert "snapshots spread over the batches" in decision.reason


def test_it_is_an_option_of_its_own() -> None:
    view = with_snapshots(IN_STEP)

    assert decide(view, options(snapshots=False)) is None
    assert decided(view, snapshots=False, preventive=True).settings["snapshots"] is False


def test_nothing_is_decided_where_nobody_notices_unless_it_is_asked_for() -> None:
    unnoticed = with_snapshots(IN_STEP, slower=1.0)

    assert decide(unnoticed, options()) is None
    assert decided(unnoticed, preventive=True).settings["snapshots"] is True


def test_a_decision_stays_when_the_snapshots_are_spread() -> None:
    assert decide(with_snapshots(SPREAD), options()) is None
    assert decided(with_snapshots(SPREAD), preventive=True).settings["snapshots"] is True


def test_a_job_without_changelogs_gets_no_phases() -> None:
    assert decided(trace(Setting(in_phase=(0,)))).settings["snapshots"] is False


def test_commits_that_nobody_could_see_are_no_trouble() -> None:
    view = with_snapshots(IN_STEP)
    for kind in ("commit", "flush", "batch", "snapshot"):
        less = {name: held for name, held in view.intervals.items() if name != kind}
        assert isinstance(snapshot_stages(replace(view, intervals=less)), list)
    assert np.isfinite(snapshot_stages(view)[0].share)
