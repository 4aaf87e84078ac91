"""An analysis keeps its record whatever happens, and makes no JVM where there is nothing to do."""

from pathlib import Path
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from dashboard.analysis import analyses, running
from dashboard.analysis.running import Asked, CannotAnalyse, perform
from dashboard.models import Analysis

pytestmark = pytest.mark.django_db(transaction=True)

ASKED = Asked(0, 1_000, (), "local[1]")


@pytest.fixture(autouse=True)
def _empty_archive(settings: Settings, tmp_path: Path) -> None:
    settings.ARCHIVE = str(tmp_path)


def silent(*_: Any) -> None:
    """Takes progress and messages."""


def test_an_archive_without_jobs_is_a_failure_that_the_record_tells() -> None:
    with pytest.raises(CannotAnalyse, match="no job in this range"):
        perform(ASKED, None, silent, silent)

    kept = Analysis.objects.get()
    assert (kept.state, kept.because) == ("failed", "the archive has no job in this range")


def test_unknown_jobs_are_named() -> None:
    with pytest.raises(CannotAnalyse, match=r"nothing of shop\.orders"):
        perform(Asked(0, 1_000, ("shop.orders",), "local[1]"), None, silent, silent)


def test_what_another_process_runs_is_not_run_again() -> None:
    asked = analyses.ask("eve", 0, 1_000, ())
    analyses.begin(asked.pk)

    with pytest.raises(CannotAnalyse, match="does not wait"):
        perform(ASKED, asked.pk, silent, silent)

    asked.refresh_from_db()
    assert asked.state == "running"


def test_what_was_asked_on_the_page_counts_and_its_report_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ran: list[Asked] = []

    def analyse(asked: Asked, kept: int | None, progress: running.Progress) -> dict[str, Any]:
        ran.append(asked)
        return {"failed": []}

    monkeypatch.setattr(running, "_analyse", analyse)
    asked = analyses.ask("eve", 5, 7, ("a",))

    perform(ASKED, asked.pk, silent, silent)

    assert ran == [Asked(5, 7, ("a",), "local[1]")]
    asked.refresh_from_db()
    assert (asked.state, asked.report) == ("done", {"failed": []})


def test_an_interrupted_analysis_is_told_as_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> dict[str, Any]:
        raise KeyboardInterrupt

    monkeypatch.setattr(running, "_analyse", interrupted)
    asked = analyses.ask("eve", 5, 7, ())

    with pytest.raises(KeyboardInterrupt):
        perform(ASKED, asked.pk, silent, silent)

    asked.refresh_from_db()
    assert (asked.state, asked.because) == ("failed", "stopped: KeyboardInterrupt")
