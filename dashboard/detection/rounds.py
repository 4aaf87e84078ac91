"""What the worker does every second: one read for all jobs, a look at each, rows where it changed.

What is kept of jobs between rounds lives in this process; one that starts anew reads two minutes
back and knows the open incidents from the database.
"""

import logging
from functools import cache

from django.db import transaction

from collectors import keys
from collectors.keys import Stream
from dashboard import activities, incidents, windows
from dashboard.alerts import outbox
from dashboard.alerts.events import Event, Severity, Type
from dashboard.detection import records
from dashboard.detection.watch import LOOKS_BACK_MS, Watch
from dashboard.jobs import STALE_AFTER_MS
from dashboard.models import Incident as Record
from dashboard.store import Entry, Store
from techniques.incidents import Changes, Incident

log = logging.getLogger(__name__)

# XREAD that waits for nothing: what is there is there.
AT_ONCE_MS = 1


async def running(store: Store, now_ms: int) -> list[str]:
    """Jobs whose collector lives: of the others there is no data, which is not health."""
    return [
        each.job_id
        for each in await store.announcements()
        if not each.ended_ms and now_ms - each.heartbeat_ms < STALE_AFTER_MS
    ]


class Detection:
    def __init__(self) -> None:
        self._watches: dict[str, Watch] = {}
        self._after_ms: dict[Stream, int] = {}

    async def read(
        self, store: Store, job_ids: list[str], now_ms: int
    ) -> dict[Stream, list[Entry]]:
        """What came since the last round, of the jobs that run."""
        streams = [
            stream
            for job_id in job_ids
            for stream in (keys.frames(job_id), keys.activities(job_id))
        ]
        self._forget(set(job_ids), set(streams))
        after = {stream: self._after_ms.get(stream, now_ms - LOOKS_BACK_MS) for stream in streams}
        news = await store.follow(after, AT_ONCE_MS)
        return {stream: list(entries) for stream, entries in news.items()}

    def look(self, news: dict[Stream, list[Entry]]) -> None:
        for stream, entries in news.items():
            self._after_ms[stream] = entries[-1].at_ms
        for job_id in {stream.job_id for stream in news}:
            try:
                self._look_at(job_id, news)
            except Exception:
                # One job that cannot be read must not hide all the others. What it found was not
                # written down, so its next look starts anew.
                log.exception("the detection of %s stumbled", job_id)
                self._watches.pop(job_id, None)
                for stream in (keys.frames(job_id), keys.activities(job_id)):
                    self._after_ms.pop(stream, None)

    def _look_at(self, job_id: str, news: dict[Stream, list[Entry]]) -> None:
        watch = self._watches.get(job_id)
        if watch is None:
            watch = self._watches[job_id] = Watch(records.known(job_id))
        frames, _ = windows.read(news.get(keys.frames(job_id), ()))
        ended, _ = activities.read(news.get(keys.activities(job_id), ()))
        changes = watch.add(frames, ended)
        if changes != Changes():
            _write(job_id, changes)

    def _forget(self, job_ids: set[str], streams: set[Stream]) -> None:
        self._watches = {k: watch for k, watch in self._watches.items() if k in job_ids}
        self._after_ms = {k: ms for k, ms in self._after_ms.items() if k in streams}


@cache
def the_detection() -> Detection:
    """Of this process: what it keeps of jobs between rounds is its own."""
    return Detection()


@transaction.atomic
def _write(job_id: str, changes: Changes) -> None:
    """With whatever is to be told to others: both are kept or neither."""
    for incident in changes.opened:
        row = records.opened(job_id, incident)
        outbox.publish(_event(Type.INCIDENT_OPENED, row, incident))
    for incident in changes.continued:
        records.continued(job_id, incident)
    for incident in changes.ended:
        for row in records.ended(job_id, incident):
            outbox.publish(_event(Type.INCIDENT_RESOLVED, row, incident))


def _event(type_: Type, row: Record, incident: Incident) -> Event:
    finding = incident.latest
    return Event(
        type=type_,
        job=row.job_id,
        kind=row.kind,
        severity=Severity(incident.severity),
        title=finding.title,
        explanation=finding.explanation,
        onset_ms=incident.onset_ms,
        end_ms=incident.end_ms if type_ == Type.INCIDENT_RESOLVED else None,
        incident_id=row.pk,
        evidence={each.name: each.value for each in finding.evidence},
        link=incidents.path(row.pk),
    )
