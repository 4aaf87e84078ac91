"""Analyses of archived history: asking for one, its progress, and its report."""

from typing import Annotated, Any, Literal

from django.conf import settings
from django.http import HttpRequest
from kombu.exceptions import OperationalError
from ninja import Router, Schema, Status
from ninja.errors import HttpError
from pydantic import Field

from dashboard.accounts.roles import caller, operators
from dashboard.analysis import analyses
from dashboard.api.fields import RowId
from dashboard.api.paging import Cursor, Limit, newest_first
from dashboard.api.problems import Conflict
from dashboard.celery_app import app
from dashboard.models import Analysis
from dashboard.store import StoreUnavailable

router = Router(tags=["analyses"])

LONGEST_MS = 400 * 86_400_000
JobId = Annotated[str, Field(min_length=1, max_length=130)]
Milliseconds = Annotated[int, Field(ge=0, lt=2**53)]


class AnalysisIn(Schema):
    """Without `jobs`, all jobs of the archive are analysed."""

    start_ms: Milliseconds
    end_ms: Milliseconds
    jobs: Annotated[list[JobId], Field(max_length=1_000)] = []  # noqa: RUF012 — pydantic copies it


class AnalysisOut(Schema):
    """`done` of `total` jobs are analysed; `because` says why it failed."""

    id: int
    asked_by: str
    asked_ms: int
    start_ms: int
    end_ms: int
    jobs: list[str]
    state: Literal["waiting", "running", "done", "failed"]
    done: int
    total: int
    because: str


class ReportedOut(AnalysisOut):
    """`report` is null until it is done. Its hours and weekdays are in UTC."""

    report: dict[str, Any] | None


class AnalysesOut(Schema):
    """Newest first, without their reports."""

    items: list[AnalysisOut]
    count: int
    next: str | None


@router.post(
    "",
    response={202: AnalysisOut},
    auth=operators,
    summary="Analyse archived history",
)
def ask(request: HttpRequest, payload: AnalysisIn) -> Status[dict[str, Any]]:
    """It runs in a process of its own; ask for it by its id. One runs at a time."""
    if settings.ARCHIVE is None:
        raise HttpError(400, "CURTAIL_ARCHIVE is off: there is no history to analyse")
    if not payload.start_ms < payload.end_ms <= payload.start_ms + LONGEST_MS:
        raise HttpError(400, "end_ms must be after start_ms, by at most 400 days")
    if running := analyses.running():
        raise Conflict(f"analysis {running.pk} runs", analyses.as_dict(running))
    asked = analyses.ask(caller(request).who, payload.start_ms, payload.end_ms, payload.jobs)
    try:
        app.send_task("dashboard.tasks.run_analysis", (asked.pk,), retry=False)
    except OperationalError as error:
        analyses.fail(asked.pk, f"no worker could be asked: {error}")
        raise StoreUnavailable(str(error)) from error
    return Status(202, analyses.as_dict(asked))


@router.get("", response=AnalysesOut, summary="All analyses")
def all_analyses(request: HttpRequest, limit: Limit = 50, cursor: Cursor = None) -> dict[str, Any]:
    found = Analysis.objects.defer("report")
    page = newest_first(found, cursor or None, limit)
    items = [analyses.as_dict(each) for each in page.items]
    return {"items": items, "count": found.count(), "next": page.next}


@router.get("/{analysis_id}", response=ReportedOut, summary="One analysis, with its report")
def one_analysis(request: HttpRequest, analysis_id: RowId) -> dict[str, Any]:
    try:
        return analyses.as_dict(Analysis.objects.get(pk=analysis_id), with_report=True)
    except Analysis.DoesNotExist:
        raise HttpError(404, f"no analysis {analysis_id}") from None
