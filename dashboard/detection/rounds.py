"""The worker's detection round, every second: runs the rules on its jobs and writes what changed.

While this worker holds the lease of a job (`dashboard.worker.job_leases`), the job's state stays in
this process: its windows in `dashboard.worker.histories`, where controllers and cards read them
too, and its open incidents here. A worker that takes over a job reads two minutes back and loads
the open incidents from the database. A round stops when its time is up, because other work of the
same second must not wait; the jobs that were left out come first in the next round.
"""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from django.db import transaction

from dashboard.alerts import outbox
from dashboard.alerts.events import Event, Severity, Type
from dashboard.detection import incidents, records
from dashboard.detection.watch import Watch
from dashboard.fleet.jobs import STALE_AFTER_MS
from dashboard.models import Incident as Record
from dashboard.models import Job
from dashboard.store import Store
from dashboard.worker.histories import Histories, the_histories
from dashboard.worker.job_leases import Leases, the_leases
from dashboard.worker.loop import run
from techniques.detection.finding import Finding
from techniques.detection.incidents import Changes, Incident

log = logging.getLogger(__name__)

# The time for detection in each second; the rest is for the worker's other tasks.
ROUND_S = 0.7
# With more jobs than this, new ones are not examined more often than others.
FEW_JOBS = 100
# Jobs read in one request: many known ones (one new second each), few new ones (two minutes each).
KNOWN_AT_ONCE, NEW_AT_ONCE = 50, 2


class NotNow(Exception):
    """The changes cannot be written by this worker now; the next look will find them again."""


async def running(store: Store, now_ms: int) -> list[str]:
    """Jobs with a recent heartbeat. The others have no data, which does not mean healthy."""
    return list(await store.running(now_ms - STALE_AFTER_MS + 1))


class Detection:
    def __init__(
        self,
        leases: Leases,
        histories: Histories,
        round_s: float = ROUND_S,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._leases = leases
        self._histories = histories
        self._round_s = round_s
        self._clock_s = clock_s
        self._watches: dict[str, Watch] = {}
        # Per job: when the lease began under which its watch was made; when it was examined last.
        self._since: dict[str, int] = {}
        self._looked_s: dict[str, float] = {}

    def round(self, store: Store, now_ms: int) -> None:
        until_s = self._clock_s() + self._round_s
        run(self._leases.renew(store))
        ours = [job_id for job_id in run(running(store, now_ms)) if self._leases.holds(job_id)]
        self._forget(ours)
        for number, group in enumerate(self._groups(ours)):
            # At least one group per round, or an overloaded worker would never get to any.
            if number and self._clock_s() > until_s:
                break
            if self._leases.is_short:
                run(self._leases.renew(store))
            self._histories.read(store, group, now_ms)
            self.look(group)
            run(store.tell_looked(self._looked(group), self._failures(group)))

    def look(self, job_ids: Sequence[str]) -> None:
        for job_id in job_ids:
            self._looked_s[job_id] = self._clock_s()
            try:
                self._look_at(job_id)
            except NotNow as why:
                self._drop(job_id)
                log.info("%s: %s", job_id, why)
            except Exception as error:
                # One failing job must not stop the detection of the others. Its watch may count
                # changes as written that were not: a new watch finds them again.
                self._drop(job_id)
                log.exception("the detection of %s stumbled", job_id)
                told = f"it could not be looked at: {type(error).__name__}: {error}"
                self._histories.fail(job_id, told)

    def _look_at(self, job_id: str) -> None:
        view = self._histories.view(job_id)
        if view is None:
            return
        if (since := self._leases.since(job_id)) is None:
            raise NotNow("another worker's by now")
        watch = self._watches.get(job_id)
        if watch is None:
            watch = self._watches[job_id] = Watch(records.known(job_id))
            self._since[job_id] = since
        changes = watch.look(view, has_time=len(self._watches) <= FEW_JOBS)
        if changes != Changes():
            self._write(job_id, changes)

    @transaction.atomic
    def _write(self, job_id: str, changes: Changes) -> None:
        """Writes the rows and their alert events in one transaction."""
        # The previous owner may be writing right now: the lock makes us wait, then check the lease.
        if not list(Job.objects.select_for_update(no_key=True).filter(pk=job_id)):
            raise NotNow("not registered yet")
        if self._leases.since(job_id) != self._since[job_id]:
            raise NotNow("another worker's by now")
        for incident in changes.opened:
            if row := records.opened(job_id, incident):
                outbox.publish(_event(Type.INCIDENT_OPENED, row, incident))
        for incident in changes.continued:
            records.continued(job_id, incident)
        for incident in changes.ended:
            for row in records.ended(job_id, incident):
                outbox.publish(_event(Type.INCIDENT_RESOLVED, row, incident))

    def _groups(self, job_ids: Sequence[str]) -> Iterator[Sequence[str]]:
        """Yields the jobs in groups, longest unexamined first. New jobs take longer to read and a
        worker that starts has many, so they come in small groups, most of them last."""
        known = sorted(
            (job_id for job_id in job_ids if job_id in self._watches),
            key=lambda job_id: self._looked_s.get(job_id, 0.0),
        )
        new = sorted(
            (job_id for job_id in job_ids if job_id not in self._watches),
            key=lambda job_id: self._looked_s.get(job_id, 0.0),
        )
        # One group of new jobs comes first: with a busy worker they would otherwise never come.
        yield from _cut(new[:NEW_AT_ONCE], NEW_AT_ONCE)
        yield from _cut(known, KNOWN_AT_ONCE)
        yield from _cut(new[NEW_AT_ONCE:], NEW_AT_ONCE)

    def _looked(self, job_ids: Sequence[str]) -> dict[str, int]:
        """The start of the newest window examined, per job; jobs without data are left out."""
        newest = {job_id: self._histories.newest(job_id) for job_id in job_ids}
        return {job_id: each.window_start_ms for job_id, each in newest.items() if each}

    def _failures(self, job_ids: Sequence[str]) -> dict[str, str]:
        return {job_id: self._histories.failure(job_id) for job_id in job_ids}

    def _forget(self, ours: Sequence[str]) -> None:
        """Drops jobs that ended, fell silent, or belong or meanwhile belonged to another worker."""
        kept = set(ours)
        self._histories.keep(kept)
        for job_id in list(self._looked_s):
            if job_id not in kept:
                self._drop(job_id)
                del self._looked_s[job_id]
        for job_id, since in list(self._since.items()):
            if self._leases.since(job_id) != since:
                self._drop(job_id)

    def _drop(self, job_id: str) -> None:
        self._watches.pop(job_id, None)
        self._since.pop(job_id, None)


@cache
def the_detection() -> Detection:
    """The detection of this process, which keeps its jobs' state between rounds."""
    return Detection(the_leases(), the_histories())


def _cut(job_ids: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    return (job_ids[at : at + size] for at in range(0, len(job_ids), size))


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
        evidence={**_first(finding), **{each.name: each.value for each in finding.evidence}},
        link=incidents.path(row.pk),
    )


def _first(finding: Finding) -> dict[str, str]:
    """The finding's first advice, for people who read only the alert and not the page."""
    return {finding.first.title: finding.first.line} if finding.first else {}
