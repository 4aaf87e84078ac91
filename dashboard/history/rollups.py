"""Frames → one row a second → a minute → an hour, with merged buckets and kept extremes.

A row of any step is made of the rows below it by adding (windows, records, batches, rows in,
buckets) and by taking the highest (all others), so any grouping on the way gives the same row, a
spike of one 50 ms window stays the highest of its hour, and percentiles are read from merged
buckets: within 1 % of the raw values at every step.

Latencies are those of records, or of batches where none is stamped (`collectors.formats.latency`).
A row says which in `source`; of rows with different sources the better one counts, as in any range.

Nothing is decoded that is not rolled up, and that for thousands of windows at once.
"""

from collections.abc import Iterable
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from collectors.formats import keys, wire
from collectors.formats.keys import Entry
from collectors.formats.wire import Frame
from dashboard.history import bucket_columns, named_columns, sections, slow_columns, varints
from dashboard.history.archive import Archive
from dashboard.history.batch_columns import Batches
from dashboard.history.bucket_columns import Floats
from dashboard.history.merging import (
    ADDED,
    HIGHEST,
    MEASURES,
    NAMED,
    QUANTILES,
    Rows,
    Texts,
    merged,
    sources,
)
from dashboard.history.rolled_schema import ROLLED, STEPS_MS, fitted

# The sections of a frame that are rolled up.
SECTIONS = (
    *(wire.LATENCY, wire.BATCHES, wire.BACKLOG, wire.STAMPED),
    *(wire.TASKS, wire.COMMITTED, wire.EXECUTORS, wire.STATE_SIZES, wire.LAG),
)
# What a reader of frames takes from the archive for `seconds_of`.
NEEDED = ("at_ms", "run_id", *(sections.NAMES[tag] for tag in SECTIONS))


def seconds(frames: Iterable[Frame]) -> pa.Table:
    """Rolls frames up to one row a second, ascending; a second without frames has no row."""
    entries = [Entry(frame.start_ms, wire.encode(frame)) for frame in frames]
    return seconds_of(sections.cut(sorted(entries)).rows)


def seconds_of(columns: pa.Table) -> pa.Table:
    """The same of frames that are cut into sections, ascending by time (`history.sections`).

    What is no frame, as it has no run id, does not count."""
    if "run_id" not in columns.column_names:
        return ROLLED.empty_table()
    columns = columns.filter(pc.is_valid(columns["run_id"])).combine_chunks()
    rows = len(columns)

    def section(tag: int) -> pa.Array:
        name = sections.NAMES[tag]
        if name not in columns.column_names or not rows:
            return pa.nulls(rows, pa.binary())
        return columns[name].chunk(0)

    def integers(tag: int) -> varints.Integers:
        return varints.read(*varints.bytes_of(section(tag)))

    every = np.arange(rows)
    batches = Batches.of(integers(wire.BATCHES))
    stamped = section(wire.STAMPED).is_valid().to_numpy(zero_copy_only=False)
    latency = bucket_columns.read(section(wire.LATENCY)).where(stamped)
    latency = latency.plus(batches.latency.where(~stamped))
    backlog, tasks = integers(wire.BACKLOG), integers(wire.TASKS)
    return merged(
        STEPS_MS[0],
        Rows(
            at_ms=columns["at_ms"].to_numpy(),
            source=np.where(stamped, 2, np.where(batches.number > 0, 1, 0)),
            latency=latency,
            worst_p99_us=latency.quantiles_us([QUANTILES["p99_us"]])[0],
            committed=bucket_columns.read(section(wire.COMMITTED)),
            added={"windows": np.ones(rows), "batches": batches.number, "rows_in": batches.rows_in},
            highest={
                "longest_batch_ms": np.where(batches.number > 0, batches.longest_ms, np.nan),
                "backlog_rows": np.where(backlog.number > 0, backlog.at(every, 0), np.nan),
                "running": tasks.at(every, 0),
                "waiting": tasks.at(every, 1),
                "state_bytes": slow_columns.state_bytes(section(wire.STATE_SIZES)),
                "state_rows": slow_columns.state_rows(section(wire.STATE_SIZES)),
                "lag_ms": slow_columns.lag_ms(section(wire.LAG)),
            },
            release=_run_ids(columns["run_id"]),
        ),
        lambda group: [
            *named_columns.measured(section(wire.EXECUTORS), tuple(MEASURES.values()), group),
            *slow_columns.by_operator(section(wire.STATE_SIZES), group),
        ],
    )


def coarser(rolled: pa.Table, step_ms: int) -> pa.Table:
    """Rolls rows of a smaller step up to one row per `step_ms`."""
    rolled = fitted(rolled).sort_by("at_ms")

    def numbers(name: str) -> Floats:
        values: Floats = rolled[name].cast(pa.float64()).to_numpy()
        return values

    return merged(
        step_ms,
        Rows(
            at_ms=rolled["at_ms"].to_numpy(),
            source=sources(rolled),
            latency=bucket_columns.read(rolled["latency"]),
            worst_p99_us=numbers("worst_p99_us"),
            committed=bucket_columns.read(rolled["committed"]),
            added={name: numbers(name) for name in ADDED},
            highest={name: numbers(name) for name in HIGHEST},
            release=np.array(rolled["release"].to_pylist(), object),
        ),
        lambda group: [
            named_columns.read(rolled[name]).merged(group, int(group[-1]) + 1) for name in NAMED
        ],
    )


def roll_up(archive: Archive, job_id: str, until_ms: int) -> None:
    """Rolls up what is complete before `until_ms` and not rolled up yet, step by step.

    Up to `until_ms` the archive must have all that will ever be there. Every piece is committed
    with how far it goes, so that one that was interrupted is neither lost nor counted twice; if
    another archiver is at the same job, `Overtaken` says so."""
    if (span := archive.span_ms(keys.frames(job_id))) is None:
        return
    for below_ms, step_ms in zip((None, *STEPS_MS), STEPS_MS, strict=False):
        seen_ms = archive.rolled_ms(job_id, step_ms)
        last_ms = min(until_ms, span[1] + step_ms) // step_ms * step_ms
        at_ms = max(seen_ms, span[0] // step_ms * step_ms)
        while at_ms < last_ms:
            end_ms = min(last_ms, at_ms + _PIECE_MS[step_ms])
            if below_ms is None:
                rolled = seconds_of(archive.read_sections(job_id, at_ms, end_ms, NEEDED))
            else:
                rolled = coarser(archive.read_columns(job_id, below_ms, at_ms, end_ms), step_ms)
            if len(rolled):
                archive.append_rolled(job_id, step_ms, rolled, seen_ms, end_ms)
                seen_ms = end_ms
            at_ms = end_ms


# What is rolled up at once, which bounds memory: 72 000 windows or 1 440 to 86 400 rows.
_PIECE_MS = {1_000: 3_600_000, 60_000: 86_400_000, 3_600_000: 60 * 86_400_000}


def _run_ids(column: pa.ChunkedArray) -> Texts:
    encoded = column.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    names = [str(UUID(bytes=each)) for each in encoded.dictionary.to_pylist()]
    found: Texts = np.array(names, object)[encoded.indices.to_numpy()]
    return found
