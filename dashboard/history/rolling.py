"""Rolls up a job's archived frames: to seconds, from these to minutes, from these to hours.

Each step is committed with how far it is rolled up, so a kill repeats at most the piece that was
being made, and a step that two archivers make at once is written by one of them.
"""

from collections.abc import Iterator
from typing import Protocol

import pyarrow as pa

from collectors.formats.keys import Entry, Stream, frames
from collectors.formats.wire import WINDOW_MS
from dashboard.history import rollups, sections
from dashboard.history.rolled_schema import STEPS_MS

# How much is read at once for a row of each step: 36 000 frames, 1 440 minutes, 720 hours.
PIECES_MS = {1_000: 1_800_000, 60_000: 86_400_000, 3_600_000: 30 * 86_400_000}
# A job that was silent for so long has no frame of an earlier time on its way.
SILENT_MS = 600_000


class Rolled(Protocol):
    """What rolling up needs of `dashboard.history.archive.Archive`."""

    def entries(self, stream: Stream, start_ms: int, end_ms: int) -> list[Entry]: ...

    def span_ms(self, stream: Stream) -> tuple[int, int] | None: ...

    def read_columns(self, job_id: str, step_ms: int, start_ms: int, end_ms: int) -> pa.Table: ...

    def append_rolled(
        self, job_id: str, step_ms: int, rolled: pa.Table, seen_ms: int, until_ms: int
    ) -> None: ...

    def rolled_ms(self, job_id: str, step_ms: int) -> int: ...


def roll_up(archive: Rolled, job_id: str, newest_ms: int, closed_ms: int) -> int:
    """Rolls up the steps that are complete and returns how many rows that made.

    `newest_ms` is the newest archived frame's time; all until `closed_ms` was looked for."""
    made = 0
    for finer_ms, step_ms in zip((None, *STEPS_MS), STEPS_MS, strict=False):
        until_ms = complete_ms(newest_ms + WINDOW_MS, closed_ms, step_ms)
        seen_ms = archive.rolled_ms(job_id, step_ms)
        if until_ms <= seen_ms:
            continue
        for start_ms, end_ms in _pieces(_begin(archive, job_id, seen_ms), until_ms, step_ms):
            rows = _rows(archive, job_id, finer_ms, step_ms, start_ms, end_ms)
            if not len(rows):
                continue
            archive.append_rolled(job_id, step_ms, rows, seen_ms, end_ms)
            seen_ms = end_ms
            made += len(rows)
    return made


def complete_ms(newest_end_ms: int, closed_ms: int, step_ms: int) -> int:
    """Returns the end of the last step to which no frame can be added.

    That is the step before the newest frame's. Once the job has been silent for long, it is the
    newest frame's own step too, if that is over: the job may start again within it."""
    before = newest_end_ms - newest_end_ms % step_ms
    own = before if before == newest_end_ms else before + step_ms
    over = (closed_ms - SILENT_MS) // step_ms * step_ms
    return max(before, min(own, over))


def _rows(
    archive: Rolled, job_id: str, finer_ms: int | None, step_ms: int, start_ms: int, end_ms: int
) -> pa.Table:
    if finer_ms is None:
        found = archive.entries(frames(job_id), start_ms, end_ms)
        return rollups.seconds_of(sections.cut(found).columns)
    return rollups.coarser(archive.read_columns(job_id, finer_ms, start_ms, end_ms), step_ms)


def _begin(archive: Rolled, job_id: str, seen_ms: int) -> int:
    if seen_ms >= 0:
        return seen_ms
    span_ms = archive.span_ms(frames(job_id))
    return span_ms[0] if span_ms else 0


def _pieces(start_ms: int, until_ms: int, step_ms: int) -> Iterator[tuple[int, int]]:
    """Splits [start, until) at multiples of the piece, so that no step is cut in two."""
    piece_ms = PIECES_MS[step_ms]
    at_ms = start_ms - start_ms % step_ms
    while at_ms < until_ms:
        end_ms = min(until_ms, at_ms - at_ms % piece_ms + piece_ms)
        yield at_ms, end_ms
        at_ms = end_ms
