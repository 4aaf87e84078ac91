"""Jobs' analyses survive the way from an executor, and the report tells them in words."""

import json
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.history.analysis.report import report
from dashboard.history.analysis.result import Failed, Found, JobAnalysis
from dashboard.history.analysis.text import lines
from dashboard.history.analysis.times import NoTime, iso, parse_ms
from techniques.analysis.added import Added
from techniques.analysis.change_points import ChangePoint
from techniques.analysis.changed_with import Together
from techniques.analysis.effects import Effect, Switch
from techniques.effect import Ratio

DAY_MS, HOUR_MS = 86_400_000, 3_600_000
START_MS = 1_793_577_600_000
END_MS = START_MS + 7 * DAY_MS
CHANGE = ChangePoint(START_MS + 4 * DAY_MS, START_MS, END_MS, 200.0, 300.0, 1e-4)


def nightly(day: int) -> Found:
    onset_ms = START_MS + day * DAY_MS + 3 * HOUR_MS
    return Found("gc_shadow", "A pause", onset_ms, onset_ms + 900, 2, 80.0, "info", "…", "")


JOB = JobAnalysis(
    job_id="shop.orders",
    hosts=("node-1",),
    seconds=604_800,
    raised_s=30,
    windows=2_400,
    unreadable=1,
    left_out_ms=0,
    stalls_s=(17, 500),
    incidents=tuple(nightly(day) for day in range(7)),
    added=(Added("gc_shadow", 7, 21, 2_100, 0.001, 280.0, 200.0, 80.0, 70.0, 90.0),),
    hours_start_ms=START_MS,
    p99_ms=(200.0, None, 201.5),
    changes=((CHANGE, (Together("release", "0123456789", "abcdefghij"),)),),
    effects=(Effect(Switch("shadowsync", START_MS, "act"), Ratio(0.5, 0.4, 0.6)),),
)


def test_a_jobs_analysis_is_the_same_after_the_way_through_json() -> None:
    assert JobAnalysis.from_json(JOB.to_json()) == JOB
    bare = replace(JOB, effects=(Effect(Switch("x", 1, "off"), None),), changes=())
    assert JobAnalysis.from_json(bare.to_json()) == bare


def test_the_report_is_json_and_its_text_names_every_finding() -> None:
    made = report([JOB], [Failed("shop.broken", "ArchiveUnavailable: gone")], START_MS, END_MS)

    assert json.loads(json.dumps(made)) == made
    text = "\n".join(lines(made))
    for words in (
        "200 ms      300 ms  0.0001   release 01234567 → abcdefgh",
        "gc_shadow  03:00–04:00  7 of 7 days",
        "80 ms",
        "0.40–0.60",
        "ArchiveUnavailable: gone",
        "UTC, 1 job\n",
    ):
        assert words in text


def test_a_change_that_one_job_shows_does_not_stand_among_a_thousand() -> None:
    others = [replace(JOB, job_id=f"j{at}", changes=(), hosts=()) for at in range(999)]

    assert len(report([JOB], [], START_MS, END_MS)["changes"]) == 1
    assert report([JOB, *others], [], START_MS, END_MS)["changes"] == []


def test_an_archive_without_anything_has_a_report_too() -> None:
    made = report([], [], START_MS, END_MS)

    assert made["together"] == made["changes"] == made["added"] == []
    assert any("0 jobs" in line for line in lines(made))


@pytest.mark.parametrize(
    ("text", "ago_ms"),
    [("now", 0), ("7d ago", 7 * DAY_MS), ("90m ago", 5_400_000), ("2w", 14 * DAY_MS)],
)
def test_times_may_be_told_as_ago(text: str, ago_ms: int) -> None:
    assert parse_ms(text, END_MS) == END_MS - ago_ms


def test_times_without_a_zone_are_in_utc() -> None:
    assert parse_ms("2026-11-02", 0) == START_MS
    assert parse_ms("2026-11-02T01:00+01:00", 0) == START_MS
    assert iso(START_MS) == "2026-11-02 00:00"


@given(st.text())
def test_any_other_text_is_a_time_or_refused(text: str) -> None:
    with suppress(NoTime):
        assert parse_ms(text, END_MS) >= 0


@pytest.mark.parametrize("text", ["", "yesterday", "7d from now", "2026-13-01", "7"])
def test_what_is_no_time_is_refused_with_what_would_do(text: str) -> None:
    with pytest.raises(NoTime, match="write 2026-11-01"):
        parse_ms(text, END_MS)
