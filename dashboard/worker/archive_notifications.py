"""A failing archive as alert events: told once, and again when it works."""

import time
from dataclasses import replace

from dashboard.alerts import outbox
from dashboard.alerts.events import Event, Severity, Type

# Ids of jobs have a dot, so none is called this.
CURTAIL = "curtail"
# What each chore of the archive is called, and what becomes of data while it fails.
MEANING = {
    "archive": (
        "Windows are not archived",
        "Redis keeps what is not archived for four hours and then drops the oldest windows.",
    ),
    "upkeep": (
        "The archive is not tidied",
        "Days past CURTAIL_ARCHIVE_DAYS stay and small files are not joined.",
    ),
}


def failed(chore: str, why: str, now_ms: int | None = None) -> None:
    now_ms = _now_ms() if now_ms is None else now_ms
    title, meaning = MEANING[chore]
    event = Event(
        type=Type.ARCHIVE_FAILED,
        job=CURTAIL,
        kind=chore,
        severity=Severity.WARNING,
        title=title,
        explanation=f"{why or 'It gave no reason.'} {meaning}",
        onset_ms=now_ms,
    )
    outbox.publish_state(event, now_ms)


def works(chore: str, now_ms: int | None = None) -> None:
    """Ends the alert, if there was one."""
    now_ms = _now_ms() if now_ms is None else now_ms
    title, _ = MEANING[chore]
    event = Event(
        type=Type.ARCHIVE_RESTORED,
        job=CURTAIL,
        kind=chore,
        severity=Severity.INFO,
        title=f"{title}: over",
        explanation="The last run came to its end without a failure.",
        onset_ms=now_ms,
        end_ms=now_ms,
    )
    told = outbox.last_told(event)
    if told is not None and told.type == Type.ARCHIVE_FAILED:
        outbox.publish_state(replace(event, onset_ms=told.event["onset_ms"]), now_ms)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
