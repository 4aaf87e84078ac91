"""Changelog checkpointing is advised where every commit uploads, and only there."""

from dataclasses import replace

import pytest

from collectors.formats import keys
from collectors.formats.wire import WINDOW_MS
from dashboard.detection.watch import Watch
from dashboard.series import activities, windows
from dashboard.series.history import LOOKS_BACK_MS, History
from techniques.detection import find_all
from techniques.detection.changelogs import CHANGELOGS_FIRST, with_changelogs, without_changelogs
from techniques.detection.finding import Finding
from techniques.model import Advice
from techniques.shadowsync.controller import conditions
from techniques.view import Interval, View
from tests.techniques.detection.recorded import JOB_ID, seconds
from tests.techniques.detection.traces import Setting, trace

SCHEDULED = Setting(in_phase=(0,))
STATISTICAL = Setting(in_phase=(0, 1), stages_in_phase=True)
BOTH = [SCHEDULED, STATISTICAL]


def committing(view: View, uploads_every: int) -> View:
    """Each flush is part of a commit, and every so many commits of a store one upload is made."""
    commits: list[Interval] = []
    uploads: list[Interval] = []
    seen: dict[tuple[int | None, int | None], int] = {}
    for flush in view.intervals["flush"]:
        store = flush.operator, flush.partition
        seen[store] = seen.get(store, 0) + 1
        commits.append(replace(flush, kind="commit", end_ms=flush.end_ms + 30))
        if seen[store] % uploads_every == 0:
            uploads.append(replace(flush, kind="snapshot"))
    return replace(view, intervals={**view.intervals, "commit": commits, "snapshot": uploads})


def shadowsync(view: View) -> list[Finding]:
    return [finding for finding in find_all(view) if finding.technique == "shadowsync"]


@pytest.mark.parametrize("setting", BOTH)
def test_where_every_commit_uploads_incident_and_card_say_changelogs_first(
    setting: Setting,
) -> None:
    view = committing(trace(setting), uploads_every=1)

    assert without_changelogs(view) == [0, 1]
    assert {finding.first for finding in shadowsync(view)} == {CHANGELOGS_FIRST}
    found = conditions(view)
    assert (found.hold, found.first) == (True, CHANGELOGS_FIRST)


@pytest.mark.parametrize("setting", BOTH)
def test_a_job_that_keeps_changelogs_is_not_told_to(setting: Setting) -> None:
    view = committing(trace(setting), uploads_every=60)

    assert (with_changelogs(view), without_changelogs(view)) == ([0, 1], [])
    assert {finding.first for finding in shadowsync(view)} == {None}
    assert conditions(view).first is None


def test_where_no_commit_was_seen_nobody_knows_and_nothing_is_advised() -> None:
    view = trace(SCHEDULED)

    assert (with_changelogs(view), without_changelogs(view)) == ([], [])
    assert [finding.first for finding in shadowsync(view)] == [None]


def test_without_shadowsync_nothing_is_advised() -> None:
    found = conditions(committing(trace(Setting()), uploads_every=1))

    assert (found.hold, found.first) == (False, None)


@pytest.mark.parametrize("setting", ["statistical", "scheduled"])
def test_a_recorded_job_without_changelogs_is_advised(setting: str) -> None:
    history, watch = History(LOOKS_BACK_MS // WINDOW_MS), Watch()
    advised: list[Advice | None] = []
    for news in seconds(setting):
        frames, _ = windows.read(news.get(keys.frames(JOB_ID), ()))
        ended, _ = activities.read(news.get(keys.activities(JOB_ID), ()))
        history.add(frames, ended)
        advised += [each.latest.first for each in watch.look(history.view()).opened]

    assert advised == [CHANGELOGS_FIRST]
