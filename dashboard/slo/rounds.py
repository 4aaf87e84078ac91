"""The worker's SLO round, every second: evaluates SLOs and finds lost jobs, from announcements.

It needs one query for SLOs, one for runs, and frames only of the few jobs with a bin above their
SLO. Evaluations and reported losses are in the database, so a restarted worker neither repeats nor
forgets one; updates apply only if the row is unchanged since it was read, so that of two workers
only one sends the alert.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from django.db import transaction

from collectors.formats import keys, latency
from collectors.formats.announcement import Announcement
from collectors.formats.buckets import merged
from dashboard.alerts import outbox
from dashboard.fleet import jobs
from dashboard.fleet.jobs import RUNNING, Beat
from dashboard.models import Run, Slo
from dashboard.series import windows
from dashboard.slo import evaluation, lost_jobs, notifications
from dashboard.slo.current import read
from dashboard.slo.evaluation import Minute, Verdict
from dashboard.slo.standing import told_by_pulse
from dashboard.store import Store

# A minute of frames takes tens of milliseconds to read: when all jobs are slow at once, they
# take turns.
MOST_READ = 8


@dataclass(frozen=True)
class Case:
    slo: Slo
    promised_ms: float
    before: Verdict
    minute: Minute

    @property
    def needs_frames(self) -> bool:
        return evaluation.needs_frames(self.before, self.minute, self.promised_ms)


class Judge:
    def __init__(self) -> None:
        self._sureness = lost_jobs.Warmup()

    def round(self, store: Store, announcements: Iterable[Announcement], now_ms: int) -> None:
        announced = {each.job_id: each for each in announcements}
        if self._sureness.at(now_ms):
            _note_losses(announced, now_ms)
        cases = _cases(Slo.objects.filter(objective__isnull=False), announced, now_ms)
        near = sorted((case for case in cases if case.needs_frames), key=_judged_ms)[:MOST_READ]
        p99s = asyncio.run(_read(store, near)) if near else {}
        for case in cases:
            if not case.needs_frames or case.slo.pk in p99s:
                _note(case, p99s.get(case.slo.pk))

    def store_away(self) -> None:
        """The store does not answer: heartbeats read after the outage may be old."""
        self._sureness.reset()


@cache
def the_judge() -> Judge:
    """The judge of this process."""
    return Judge()


async def _read(store: Store, near: Sequence[Case]) -> dict[int, float | None]:
    try:
        return {case.slo.pk: await _p99_ms(store, case) for case in near}
    finally:
        await store.close()


def _cases(slos: Iterable[Slo], announced: Mapping[str, Announcement], now_ms: int) -> list[Case]:
    """The SLOs to evaluate now: those of running jobs with a bin completed since the last time."""
    found = []
    for slo in slos:
        said = announced.get(slo.job_id)
        objective = read(slo.job_id, slo.objective)
        target = objective and objective.latency
        if not target or not told_by_pulse(target) or said is None or said.pulse is None:
            continue
        beat = Beat(said.heartbeat_ms, said.ended_ms, said.end_reason)
        minute = evaluation.last_minute(said.pulse.recent)
        if beat.state(now_ms) == RUNNING and minute and minute.end_ms > slo.judged_ms:
            before = Verdict(slo.judged_ms, slo.above, slo.violated_ms)
            found.append(Case(slo, target.threshold_ms, before, minute))
    return found


async def _p99_ms(store: Store, case: Case) -> float | None:
    """The p99 of all records of the minute, from merged buckets and never averaged. Warm-up is
    left out, as in the bins that the job reports."""
    stream = keys.frames(case.slo.job_id)
    stored = await store.entries(stream, case.minute.start_ms, case.minute.end_ms)
    frames, _ = await asyncio.to_thread(windows.read, stored)
    source = latency.source_of(frames)
    whole = merged([latency.of(frame, source) for frame in frames if not frame.warming_up])
    [p99_us] = whole.quantiles_us([0.99])
    return windows.ms(p99_us)


def _note(case: Case, p99_ms: float | None) -> None:
    slo, before = case.slo, case.before
    after = evaluation.judged(before, case.minute, case.promised_ms, p99_ms)
    if after == before:
        return
    # Update only the SLO that was evaluated: an operator may have changed it in between.
    judged = Slo.objects.filter(pk=slo.pk, version=slo.version, judged_ms=before.judged_ms)
    changes = {
        "judged_ms": after.judged_ms,
        "above": after.above,
        "violated_ms": after.violated_ms,
    }
    with transaction.atomic():
        if not judged.update(**changes):
            return
        if before.violated_ms is None and after.violated_ms is not None:
            outbox.publish(notifications.violated(slo, after.violated_ms, p99_ms or 0.0))
        elif before.violated_ms is not None and after.violated_ms is None:
            outbox.publish(notifications.restored(slo, before.violated_ms, case.minute.start_ms))


def _note_losses(announced: Mapping[str, Announcement], now_ms: int) -> None:
    runs = jobs.newest_runs(ended_ms__isnull=True).select_related("job")
    seen = lost_jobs.found(runs, announced, now_ms)
    for run, last_ms in seen.lost:
        still = Run.objects.filter(pk=run.pk, lost_ms__isnull=True, ended_ms__isnull=True)
        with transaction.atomic():
            if still.update(lost_ms=last_ms):
                outbox.publish(notifications.lost(run, last_ms))
    if seen.back:
        Run.objects.filter(pk__in=[run.pk for run in seen.back]).update(lost_ms=None)


def _judged_ms(case: Case) -> int:
    return case.slo.judged_ms
