"""All jobs' analyses as one report: plain data, as the terminal, the page and the API show it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from dashboard.history.analysis.result import Failed, JobAnalysis
from techniques.analysis.change_points import corrected
from techniques.analysis.recurrence import recurrence
from techniques.analysis.together import Group, together

VERSION = 1
# The most incidents of a job that the report names; all of them are counted.
MOST_INCIDENTS = 100
# The most meetings of two jobs that the page draws.
MOST_MEETINGS = 500

Report = dict[str, Any]


def report(
    analysed: Sequence[JobAnalysis], failed: Sequence[Failed], start_ms: int, end_ms: int
) -> Report:
    """p-values are corrected for the number of jobs, pairs and hours that were tried."""
    jobs = sorted(analysed, key=lambda each: each.job_id)
    made = {
        "version": VERSION,
        "start_ms": start_ms,
        "end_ms": end_ms,
        "jobs": [_job(job) for job in jobs],
        "failed": [asdict(each) for each in failed],
        "recurrence": _recurrence(jobs, start_ms, end_ms),
        "changes": _changes(jobs),
        "together": [_group(group) for group in _together(jobs, start_ms, end_ms)],
        "added": _added(jobs),
        "effects": [
            {"job": job.job_id, **asdict(effect)} for job in jobs for effect in job.effects
        ],
    }
    # The same value here and after its way through the database: lists, no tuples, no NaN.
    plain: Report = json.loads(json.dumps(made, allow_nan=False))
    return plain


def _job(job: JobAnalysis) -> Report:
    worst = sorted(job.incidents, key=lambda each: -each.added_ms)[:MOST_INCIDENTS]
    return {
        "job": job.job_id,
        "hosts": list(job.hosts),
        "seconds": job.seconds,
        "raised_s": job.raised_s,
        "windows": job.windows,
        "unreadable": job.unreadable,
        "left_out_ms": job.left_out_ms,
        "incidents": len(job.incidents),
        "worst": [asdict(each) for each in worst],
        "hours_start_ms": job.hours_start_ms,
        "p99_ms": [None if each is None else round(each, 3) for each in job.p99_ms],
    }


def _recurrence(jobs: Sequence[JobAnalysis], start_ms: int, end_ms: int) -> Report:
    """Over all jobs, and for each kind of incident."""
    kinds = sorted({each.kind for job in jobs for each in job.incidents})
    onsets: Mapping[str, list[int]] = {
        kind: [each.onset_ms for job in jobs for each in job.incidents if kind in ("", each.kind)]
        for kind in ("", *kinds)
    }
    return {
        kind or "all": asdict(recurrence(times, start_ms, end_ms)) for kind, times in onsets.items()
    }


def _changes(jobs: Sequence[JobAnalysis]) -> list[Report]:
    kept = corrected([[change for change, _ in job.changes] for job in jobs])
    return [
        {
            "job": job.job_id,
            **asdict(change),
            "ratio": change.ratio,
            "with": [asdict(each) for each in changed_with],
        }
        for job, changes in zip(jobs, kept, strict=True)
        for change, changed_with in job.changes
        if change in changes
    ]


def _together(jobs: Sequence[JobAnalysis], start_ms: int, end_ms: int) -> tuple[Group, ...]:
    hosts: dict[str, list[str]] = {}
    raised = {}
    for job in jobs:
        for host in job.hosts:
            hosts.setdefault(host, []).append(job.job_id)
        mask = np.zeros(-(-(end_ms - start_ms) // 1_000), dtype=bool)
        mask[list(job.stalls_s)] = True
        raised[job.job_id] = mask
    return together(hosts, raised, start_ms)


def _group(group: Group) -> Report:
    told = asdict(group)
    for pair in told["pairs"]:
        pair["meetings_ms"] = pair["meetings_ms"][:MOST_MEETINGS]
    return told


def _added(jobs: Sequence[JobAnalysis]) -> list[Report]:
    return [{"job": job.job_id, **asdict(each)} for job in jobs for each in job.added]
