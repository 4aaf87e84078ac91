"""One job's analysis: scan the seconds, look closely where p99 is raised, and ask the hours for
changes. What comes out is small and travels as JSON, since jobs are analysed on other machines."""

from collections.abc import Sequence

import numpy as np

from dashboard.history.analysis import close_look, rolled_series
from dashboard.history.analysis.result import Found, JobAnalysis
from dashboard.history.analysis.rolled_series import HOUR_MS, MINUTE_MS, SECOND_MS, Hours
from dashboard.history.archive import Archive
from techniques.analysis import changed_with
from techniques.analysis.added import added
from techniques.analysis.change_points import ChangePoint, change_points
from techniques.analysis.changed_with import Together
from techniques.analysis.effects import Switch, effects
from techniques.analysis.scan import scan
from techniques.analysis.together import onsets
from techniques.detection.incidents import Incident
from techniques.intervals import Floats


def analyse(
    archive: Archive,
    job_id: str,
    start_ms: int,
    end_ms: int,
    switches: Sequence[Switch] = (),
) -> JobAnalysis:
    """Analyses [start, end); raises `ArchiveUnavailable` if the archive cannot be read."""
    rows, at_ms = rolled_series.table(archive, job_id, SECOND_MS, start_ms, end_ms)

    def seconds(name: str) -> Floats:
        return rolled_series.on_grid(rows, name, SECOND_MS, start_ms, end_ms)

    p99_us = seconds("p99_us")
    scanned = scan(start_ms + np.arange(len(p99_us)) * SECOND_MS, p99_us, start_ms, end_ms)
    seen = close_look.look(archive, job_id, scanned.ranges_ms)
    hours = rolled_series.hours(archive, job_id, start_ms, end_ms)
    changes = change_points(hours.start_ms, HOUR_MS, hours.p99_ms)
    minutes, _ = rolled_series.table(archive, job_id, MINUTE_MS, start_ms, end_ms)
    return JobAnalysis(
        job_id=job_id,
        hosts=hours.hosts,
        seconds=len(at_ms),
        raised_s=scanned.raised_s,
        windows=seen.windows,
        unreadable=seen.unreadable,
        left_out_ms=scanned.left_out_ms,
        stalls_s=tuple(int(at) for at in np.flatnonzero(onsets(scanned.raised))),
        incidents=tuple(_found(each) for each in seen.incidents),
        added=added(start_ms, p99_us, scanned.usual_us, seconds("records"), seen.spans_ms),
        hours_start_ms=hours.start_ms,
        p99_ms=tuple(None if np.isnan(each) else float(each) for each in hours.p99_ms),
        changes=tuple((each, _changed_with(each, changes, hours)) for each in changes),
        effects=effects(
            start_ms,
            MINUTE_MS,
            rolled_series.on_grid(minutes, "p99_us", MINUTE_MS, start_ms, end_ms),
            [each for each in switches if start_ms <= each.at_ms < end_ms],
        ),
    )


def _found(incident: Incident) -> Found:
    finding = incident.latest
    return Found(
        kind=finding.kind,
        title=finding.title,
        onset_ms=incident.onset_ms,
        end_ms=incident.end_ms,
        occurrences=incident.occurrences,
        added_ms=incident.worst_added_ms,
        severity=incident.severity.value,
        explanation=finding.explanation,
        technique=finding.technique or "",
    )


def _changed_with(
    change: ChangePoint, changes: Sequence[ChangePoint], hours: Hours
) -> tuple[Together, ...]:
    others = [each for each in changes if each is not change]
    numbers = {"rows per batch": hours.rows_per_batch, "state bytes": hours.state_bytes}
    told = [
        changed_with.releases(change, hours.start_ms, HOUR_MS, hours.releases),
        *(
            changed_with.level(what, change, others, hours.start_ms, values, HOUR_MS)
            for what, values in numbers.items()
        ),
    ]
    return tuple(each for each in told if each is not None)
