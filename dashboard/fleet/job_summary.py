"""One job as the API and the live list show it. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from collectors.formats.announcement import Announcement
from collectors.formats.pulse import BIN_MS, Pulse
from dashboard.fleet.job_list import ListedJob
from dashboard.fleet.jobs import RUNNING, Beat
from dashboard.models import Run, TechniqueSetting
from dashboard.series import windows
from dashboard.slo import standing
from dashboard.steering.registered import registry

NOTHING = Pulse()
# Rounds come every second and a busy worker skips some; after this long, nobody watches the job.
WATCHED_WITHIN_MS = 10_000


@dataclass(frozen=True)
class Told:
    """What a job announced, converted once for all requests that show it."""

    announcement: Announcement
    p99_recent: Mapping[str, Any]
    collector: Mapping[str, Any] | None
    # The start of the newest window that was examined for incidents.
    looked_ms: int | None = None
    # Why the worker could not read the job's data lately; empty if it could.
    failure: str = ""

    @classmethod
    def of(
        cls, announcement: Announcement, looked_ms: int | None = None, failure: str = ""
    ) -> "Told":
        pulse = announcement.pulse
        if pulse is None:
            return cls(announcement, recent(NOTHING), None, looked_ms, failure)
        collector = windows.collector(pulse.health, pulse.load, pulse.busy_share)
        return cls(announcement, recent(pulse), collector, looked_ms, failure)

    def is_watched(self, now_ms: int) -> bool:
        return self.looked_ms is not None and now_ms - self.looked_ms < WATCHED_WITHIN_MS


def told(
    announcements: Iterable[Announcement],
    looked_ms: Mapping[str, int],
    failures: Mapping[str, str],
) -> dict[str, Told]:
    return {
        each.job_id: Told.of(each, looked_ms.get(each.job_id), failures.get(each.job_id, ""))
        for each in announcements
    }


def as_dict(member: ListedJob, said: Told | None, now_ms: int) -> dict[str, Any]:
    job, run = member.job, member.run
    beat = Beat.newest(job, run, said.announcement if said else None)
    state = beat.state(now_ms)
    pulse = (said and said.announcement.pulse) or NOTHING
    p99_recent = said.p99_recent if said else recent(NOTHING)
    # Current values are left out of a silent job; past values are shown with their time.
    live = state == RUNNING
    p99_ms = p99_recent["p99_ms"][-1] if live and p99_recent["p99_ms"] else None
    return {
        "id": job.id,
        "application": job.application,
        "query": job.query,
        "state": state,
        "warming_up": live and pulse.warming_up,
        "first_seen_ms": job.first_seen_ms,
        "last_seen_ms": beat.at_ms,
        "run": run and _run(run),
        "tags": list(member.tags),
        "slo": member.slo and standing.as_dict(member.slo, p99_ms, now_ms),
        "p99_ms": p99_ms,
        "p99_source": pulse.source,
        "p99_recent": p99_recent,
        "backlog_rows": pulse.backlog_rows if live else None,
        "open_incidents": member.open_incidents,
        "incidents_last_hour": member.incidents_last_hour,
        # Without this, "no incidents" could also mean that nobody looked.
        "watched": bool(live and said and said.is_watched(now_ms)),
        # Some of the job's data could not be read or examined.
        "failure": said.failure if live and said else "",
        "techniques": [_technique(setting) for setting in member.techniques],
        "collector": said and said.collector,
    }


def recent(pulse: Pulse) -> dict[str, Any]:
    return {
        "start_ms": pulse.recent.start_ms,
        "step_ms": BIN_MS,
        # Not rounded: values are whole µs, so a value in ms has at most three decimals.
        "p99_ms": [us and us / 1000 for us in pulse.recent.p99_us],
    }


def _technique(setting: TechniqueSetting) -> dict[str, str]:
    known = registry().techniques.get(setting.technique)
    return {
        "name": setting.technique,
        "title": known.title if known else setting.technique,
        "mode": setting.mode,
        "state": setting.stand,
    }


def _run(run: Run) -> dict[str, Any]:
    return {
        "run_id": run.run_id,
        "application_id": run.application_id,
        "spark_version": run.spark_version,
        "driver_host": run.driver_host,
        "started_ms": run.started_ms,
        "ended_ms": run.ended_ms,
        "end_reason": run.end_reason,
    }
