"""A job's roll-ups of any time: those of the archive, and what nobody has rolled up yet.

What the archive has of the step is read as it is. After it come rows of the finer steps, and after
those the frames that are in the archive or in Redis only, all rolled up here: a few minutes of
them while the archiver runs.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from collectors.formats import keys
from collectors.formats.keys import Entry
from collectors.formats.wire import WINDOW_MS
from dashboard.history import sections
from dashboard.history.archive import Archive
from dashboard.history.rolled_schema import ROLLED, STEPS_MS
from dashboard.history.rollups import coarser, seconds_of
from dashboard.series.steps import NEEDED, Steps
from dashboard.store import past, the_store

# As long as Redis keeps frames at most: more than that is not rolled up for one answer.
LONGEST_TAIL_MS = 4 * 3_600_000
# Frames are read in pieces, so that memory stays small and other requests run in between.
PIECE_MS = 900_000

NOT_ROLLED_UP = "some of the archive is not rolled up yet; the archiver does that in its next round"


@dataclass(frozen=True)
class Rolled:
    """Rows of one step, ascending; `incomplete` says why there may be more, if so."""

    rows: pa.Table
    incomplete: str | None = None


@dataclass(frozen=True)
class _Archived:
    """What the archive has: rows of the step, then of finer ones until a time, and frames."""

    rows: pa.Table
    finer: list[pa.Table]
    until_ms: int
    newest_frame_ms: int = -1


async def rolled(job_id: str, steps: Steps) -> Rolled:
    """The rows of the range, as far as there are any."""
    frames = keys.frames(job_id)
    archived, why = await past.asked(
        lambda archive: _archived(archive, job_id, steps),
        _Archived(ROLLED.empty_table(), [], steps.start_ms),
    )
    newest_ms = max(archived.newest_frame_ms, await the_store().newest_ms(frames))
    end_ms = min(steps.end_ms, newest_ms + WINDOW_MS)
    longest_ms = (newest_ms - LONGEST_TAIL_MS) // steps.step_ms * steps.step_ms
    since_ms = max(archived.until_ms, longest_ms)
    if archived.until_ms < min(since_ms, end_ms, archived.newest_frame_ms):
        why = why or NOT_ROLLED_UP
    finer = list(archived.finer)
    for at_ms in range(since_ms, end_ms, PIECE_MS):
        kept = await past.entries(frames, at_ms, min(end_ms, at_ms + PIECE_MS))
        finer.append(await asyncio.to_thread(_seconds, kept.entries))
        why = why or kept.incomplete
    merged = await asyncio.to_thread(coarser, pa.concat_tables(finer or [_NONE]), steps.step_ms)
    return Rolled(pa.concat_tables([each.select(NEEDED) for each in (archived.rows, merged)]), why)


_NONE = ROLLED.empty_table()


def _archived(archive: Archive, job_id: str, steps: Steps) -> _Archived:
    frames = keys.frames(job_id)
    at_ms, rows, finer = steps.start_ms, _NONE, []
    for step_ms in sorted((each for each in STEPS_MS if each <= steps.step_ms), reverse=True):
        until_ms = min(steps.end_ms, archive.rolled_ms(job_id, step_ms))
        if until_ms <= at_ms:
            continue
        if step_ms == steps.step_ms:
            rows = archive.read_columns(job_id, step_ms, at_ms, until_ms, NEEDED)
        else:
            finer.append(archive.read_columns(job_id, step_ms, at_ms, until_ms))
        at_ms = until_ms
    return _Archived(rows, finer, at_ms, archive.archived_ms([frames]).get(frames, -1))


def _seconds(entries: Sequence[Entry]) -> pa.Table:
    return seconds_of(sections.cut(entries).rows)
