"""The detectors of the live page, over archived minutes.

A range is fed to a history in pieces, as the worker does it every second, and after each piece the
rules look two minutes back. Fifteen seconds are short enough that no incident ends unseen between
two looks (`incidents.QUIET_MS`), and a fifteenth of the work.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from collectors.formats import keys
from collectors.formats.wire import WINDOW_MS
from dashboard.history.archive import Archive
from dashboard.series import activities, windows
from dashboard.series.history import LOOKS_BACK_MS, History, only
from techniques.detection import RULES, find_all
from techniques.detection.finding import Finding
from techniques.detection.incidents import Incident, merged
from techniques.view import Reads

PIECE_MS = 15_000
READS = frozenset[Reads]().union(*(rule.READS for rule in RULES.values()))


@dataclass
class Seen:
    """`spans_ms` are all occurrences by kind of incident. `unreadable` entries were left out;
    `windows` were decoded."""

    incidents: list[Incident] = field(default_factory=list)
    spans_ms: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    unreadable: int = 0
    windows: int = 0


def look(archive: Archive, job_id: str, ranges_ms: Sequence[tuple[int, int]]) -> Seen:
    """Runs all rules over the ranges, oldest first; an incident may go on from one to the next."""
    seen = Seen()
    known: list[Incident] = []
    for start_ms, end_ms in ranges_ms:
        for now_ms, findings in _findings(archive, job_id, start_ms, end_ms, seen):
            known = _merge(known, findings, now_ms, seen)
    seen.incidents += known
    seen.incidents.sort(key=lambda each: each.onset_ms)
    return seen


def _merge(
    known: Sequence[Incident], findings: Sequence[Finding], now_ms: int, seen: Seen
) -> list[Incident]:
    """The incidents that are open afterwards; those that ended go to `seen`."""
    changes = merged(known, findings, now_ms)
    changed = {each.key: each for each in (*changes.continued, *changes.ended)}
    seen.incidents += changes.ended
    over = {each.key for each in changes.ended}
    going = [changed.get(each.key, each) for each in known if each.key not in over]
    going += changes.opened
    open_keys = {each.key for each in going}
    for finding in findings:
        if (finding.kind, finding.operators, finding.executors) in open_keys:
            seen.spans_ms.setdefault(finding.kind, []).extend(finding.spans_ms)
    return going


def _findings(
    archive: Archive, job_id: str, start_ms: int, end_ms: int, seen: Seen
) -> Iterator[tuple[int, list[Finding]]]:
    frames, unreadable = windows.in_place(
        archive.entries(keys.frames(job_id), start_ms, end_ms), only(READS)
    )
    # What ran in the range may have been told after it.
    ended, more = activities.read(
        archive.entries(keys.activities(job_id), start_ms, end_ms + activities.LONGEST_MS),
        with_tasks=Reads.TASKS in READS,
    )
    seen.unreadable += unreadable + more
    seen.windows += len(frames)
    history = History(LOOKS_BACK_MS // WINDOW_MS, READS)
    ended.sort(key=lambda each: each.end_us)
    told = at = 0
    for now_ms in range(start_ms + PIECE_MS, end_ms + PIECE_MS, PIECE_MS):
        piece = []
        while at < len(frames) and frames[at][1].start_ms < now_ms:
            piece.append(frames[at][1])
            at += 1
        new = []
        while told < len(ended) and ended[told].end_us < now_ms * 1000:
            new.append(ended[told])
            told += 1
        history.add(piece, new)
        if len(view := history.view()):
            yield now_ms, find_all(view)
