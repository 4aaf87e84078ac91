"""Reads all jobs from the database, in a fixed number of queries for any number of jobs."""

from collections import defaultdict
from dataclasses import dataclass

from dashboard.detection import incidents
from dashboard.fleet.jobs import newest_runs
from dashboard.models import Job, Run, Slo, Tag, TechniqueSetting
from techniques.model import Mode


@dataclass(frozen=True)
class ListedJob:
    job: Job
    run: Run | None = None
    slo: Slo | None = None
    tags: tuple[str, ...] = ()
    techniques: tuple[TechniqueSetting, ...] = ()
    open_incidents: int = 0
    incidents_last_hour: int = 0


def read(now_ms: int, job_id: str | None = None) -> list[ListedJob]:
    """Returns all jobs, or only `job_id`; an empty list if that is unknown."""
    jobs, of_job = Job.objects.all(), {}
    if job_id is not None:
        jobs, of_job = jobs.filter(pk=job_id), {"job_id": job_id}
    run_of = {run.job_id: run for run in newest_runs(**of_job)}
    slo_of = {slo.job_id: slo for slo in Slo.objects.filter(**of_job, objective__isnull=False)}
    tags_of: dict[str, list[str]] = defaultdict(list)
    for tag in Tag.objects.filter(**of_job):
        tags_of[tag.job_id].append(tag.name)
    asked_of: dict[str, list[TechniqueSetting]] = defaultdict(list)
    for setting in TechniqueSetting.objects.filter(**of_job).exclude(mode=Mode.OFF):
        asked_of[setting.job_id].append(setting)
    tally = incidents.tally(now_ms)
    return [
        ListedJob(
            job,
            run_of.get(job.id),
            slo_of.get(job.id),
            tuple(tags_of[job.id]),
            tuple(asked_of[job.id]),
            *tally.get(job.id, (0, 0)),
        )
        for job in jobs
    ]
