"""Analyses as records: asking for one, its progress, its end, and how the API shows it."""

import time
from collections.abc import Sequence
from typing import Any

from django.db import transaction

from dashboard.accounts import audit
from dashboard.models import Analysis

State = Analysis.State
# The running process renews its beat this often; after so long without one it was killed.
BEAT_S = 5.0
SILENT_MS = 60_000
LONGEST_REASON = 500
KILLED = "the process of the analysis ended without a word; ask again"


def now_ms() -> int:
    return time.time_ns() // 1_000_000


@transaction.atomic
def ask(who: str, start_ms: int, end_ms: int, jobs: Sequence[str]) -> Analysis:
    analysis = Analysis.objects.create(
        asked_by=who,
        asked_ms=(now := now_ms()),
        start_ms=start_ms,
        end_ms=end_ms,
        jobs=list(jobs),
        beat_ms=now,
    )
    asked = {"start_ms": start_ms, "end_ms": end_ms, "jobs": list(jobs)}
    audit.record(who, "analysis.asked", f"analysis #{analysis.pk}", after=asked)
    return analysis


def running() -> Analysis | None:
    """An analysis that waits or runs, unless its process fell silent."""
    return (
        Analysis.objects.defer("report")
        .filter(state__in=(State.WAITING, State.RUNNING), beat_ms__gte=now_ms() - SILENT_MS)
        .first()
    )


def begin(analysis_id: int) -> Analysis | None:
    """Takes a waiting analysis; None if it does not wait (another process has it)."""
    waiting = Analysis.objects.filter(pk=analysis_id, state=State.WAITING)
    if not waiting.update(state=State.RUNNING, beat_ms=now_ms()):
        return None
    return Analysis.objects.get(pk=analysis_id)


def progress(analysis_id: int, done: int, total: int) -> None:
    Analysis.objects.filter(pk=analysis_id).update(done=done, total=total, beat_ms=now_ms())


def beat(analysis_id: int) -> None:
    Analysis.objects.filter(pk=analysis_id).update(beat_ms=now_ms())


def finish(analysis_id: int, report: dict[str, Any]) -> None:
    Analysis.objects.filter(pk=analysis_id).update(
        state=State.DONE, report=report, beat_ms=now_ms()
    )


def fail(analysis_id: int, because: str) -> None:
    Analysis.objects.filter(pk=analysis_id).update(
        state=State.FAILED, because=because[:LONGEST_REASON], beat_ms=now_ms()
    )


def as_dict(analysis: Analysis, with_report: bool = False) -> dict[str, Any]:
    """A running analysis that fell silent is told as failed."""
    silent = analysis.state in (State.WAITING, State.RUNNING) and (
        now_ms() - analysis.beat_ms > SILENT_MS
    )
    told = {
        "id": analysis.pk,
        "asked_by": analysis.asked_by,
        "asked_ms": analysis.asked_ms,
        "start_ms": analysis.start_ms,
        "end_ms": analysis.end_ms,
        "jobs": analysis.jobs,
        "state": State.FAILED.value if silent else analysis.state,
        "done": analysis.done,
        "total": analysis.total,
        "because": KILLED if silent else analysis.because,
    }
    return {**told, "report": analysis.report} if with_report else told
