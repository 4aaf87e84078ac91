"""The worker's SLO round, every second: evaluates SLOs and finds lost jobs, from announcements.

It needs one query for SLOs and one for runs, and no frames: SLOs that need them are evaluated with
the worker's own jobs (`dashboard.slo.history_rounds`). Evaluations and reported losses are in the
database, so a restarted worker neither repeats nor forgets one; updates apply only if the row is
unchanged since it was read, so that of two workers only one sends the alert.
"""

from collections.abc import Iterable, Mapping
from functools import cache

from django.db import transaction

from collectors.formats.announcement import Announcement
from dashboard.alerts import outbox
from dashboard.fleet import jobs
from dashboard.fleet.jobs import RUNNING, Beat
from dashboard.models import Run, Slo
from dashboard.slo import evaluation, lost_jobs, notifications, records
from dashboard.slo.current import read
from dashboard.slo.evaluation import Outcome
from techniques.slo.objective import Objective


class Judge:
    def __init__(self) -> None:
        self._sureness = lost_jobs.Warmup()

    def round(self, announcements: Iterable[Announcement], now_ms: int) -> None:
        announced = {each.job_id: each for each in announcements}
        if self._sureness.at(now_ms):
            _note_losses(announced, now_ms)
        held = Slo.objects.filter(objective__isnull=False)
        told = [found for slo in held if (found := _told(slo, announced.get(slo.job_id), now_ms))]
        if told:
            # Bins end for all jobs at once: together they are written much faster.
            with transaction.atomic():
                for slo, objective, outcomes in told:
                    records.note(slo, objective, outcomes)

    def store_away(self) -> None:
        """The store does not answer: heartbeats read after the outage may be old."""
        self._sureness.reset()


@cache
def the_judge() -> Judge:
    """The judge of this process."""
    return Judge()


def _told(
    slo: Slo, said: Announcement | None, now_ms: int
) -> tuple[Slo, Objective, list[Outcome]] | None:
    """What a job that runs told since its SLO was judged last; None if that is nothing."""
    if said is None or said.pulse is None:
        return None
    beat = Beat(said.heartbeat_ms, said.ended_ms, said.end_reason)
    objective = read(slo.job_id, slo.objective) if beat.state(now_ms) == RUNNING else None
    if objective is None or not evaluation.told_by_pulse(objective):
        return None
    outcomes = evaluation.of_pulse(objective, said.pulse.recent, slo.judged_ms)
    return (slo, objective, outcomes) if outcomes else None


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
