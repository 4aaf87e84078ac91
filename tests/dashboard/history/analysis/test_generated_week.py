"""The analysis of a generated week finds what is planted and nothing else, as the user runs it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dashboard.cli.root import ROOT
from dashboard.history.analysis.job import analyse
from dashboard.history.analysis.report import Report, report
from dashboard.history.archive import Archive, Place
from dashboard.testing.generated_week import START_MS, Week


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("week")


@pytest.fixture(scope="module")
def week(folder: Path) -> Week:
    made = Week()
    made.write(Archive(Place(str(folder / "archive"))))
    return made


@pytest.fixture(scope="module")
def told(week: Week, folder: Path) -> Report:
    """The report of `curtail analyze`, as a process of its own, with a database of its own."""
    env = {**os.environ, "CURTAIL_DATA_DIR": str(folder), "DATABASE_URL": ""}
    run = [sys.executable, "manage.py", "migrate", "--no-input"]
    subprocess.run(run, cwd=ROOT, env=env, check=True, capture_output=True)
    words = ["analyze", "--from", "2026-11-02", "--to", "2026-11-09", "--json"]
    words += ["--master", "local[2]"]
    done = subprocess.run(
        [sys.executable, "-m", "dashboard.cli", *words],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr
    assert f"{week.jobs} of {week.jobs} jobs analysed" in done.stderr
    found: Report = json.loads(done.stdout)
    return found


pytestmark = [pytest.mark.spark, pytest.mark.own_jvm]


def test_every_job_is_analysed(told: Report, week: Week) -> None:
    assert [job["job"] for job in told["jobs"]] == week.job_ids
    assert told["failed"] == []
    assert all(job["unreadable"] == 0 for job in told["jobs"])


def test_the_planted_shadowsync_across_jobs_is_found_and_no_other(told: Report, week: Week) -> None:
    (group,) = told["together"]

    one, other = week.stalling
    assert (group["host"], group["elsewhere"]) == (week.host(one), [])
    assert group["jobs"] == [week.job_id(one), week.job_id(other)]
    (pair,) = group["pairs"]
    assert pair["meetings"] >= len(week.meetings_s)
    assert pair["meetings"] >= 10 * pair["expected"]
    planted = {START_MS + int(at) * 1_000 for at in week.meetings_s}
    assert all(any(abs(at - each) <= 2_000 for each in planted) for at in pair["examples_ms"])


def test_the_planted_change_is_found_with_what_changed_and_no_other(
    told: Report, week: Week
) -> None:
    (change,) = told["changes"]

    assert change["job"] == week.job_id(week.changing)
    assert abs(change["at_ms"] - week.change_ms) <= 2 * 3_600_000
    assert change["ratio"] == pytest.approx(week.jump, rel=0.1)
    assert [each["what"] for each in change["with"]] == ["release", "state bytes"]
    state = change["with"][1]
    assert state["after"] / state["before"] == pytest.approx(2, rel=0.1)


def test_nothing_else_is_called_more_than_chance(told: Report) -> None:
    assert all(not found["hours"] + found["weekdays"] for found in told["recurrence"].values())
    assert told["effects"] == []
    # Frames were looked at closely, and the detectors of single jobs see no cause there.
    assert sum(job["windows"] for job in told["jobs"]) > 100_000
    assert told["added"] == []


def test_the_report_is_kept_for_the_page(told: Report, folder: Path) -> None:
    import sqlite3

    with sqlite3.connect(folder / "curtail.sqlite3") as database:
        rows = database.execute(
            "select state, done, total, report from dashboard_analysis"
        ).fetchall()

    ((state, done, total, kept),) = rows
    assert (state, done, total) == ("done", 20, 20)
    assert json.loads(kept) == told


@pytest.mark.parametrize("seed", [1, 2])
def test_a_week_in_which_nothing_is_planted_has_nothing(seed: int, tmp_path: Path) -> None:
    quiet = Week(seed=seed, jobs=6, planted=False)
    archive = Archive(Place(str(tmp_path)))
    quiet.write(archive)

    jobs = [analyse(archive, job_id, START_MS, quiet.end_ms) for job_id in quiet.job_ids]
    found = report(jobs, [], START_MS, quiet.end_ms)

    assert (found["together"], found["changes"], found["added"]) == ([], [], [])
