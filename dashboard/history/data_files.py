"""One Parquet file of a table: written whole, read by time."""

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import quote
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake.transaction import AddAction
from pyarrow import fs

from dashboard.history.tables import Layout

DAY_MS = 86_400_000


@dataclass(frozen=True)
class DataFile:
    """A file that the table's log names. `path` is relative to the table's folder."""

    path: str
    partition: Mapping[str, str]
    rows: int
    size_bytes: int
    oldest_ms: int
    newest_ms: int

    def added(self) -> AddAction:
        statistics = {
            "numRecords": self.rows,
            "minValues": {"at_ms": self.oldest_ms},
            "maxValues": {"at_ms": self.newest_ms},
            "nullCount": {"at_ms": 0},
        }
        return AddAction(
            path=self.path,
            size=self.size_bytes,
            partition_values=dict(self.partition),
            modification_time=time.time_ns() // 1_000_000,
            data_change=True,
            stats=json.dumps(statistics),
        )


class Misread(Exception):
    """The file is not what the log says it is."""


def day_of(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d")


def by_day(rows: pa.Table) -> Iterable[tuple[str, pa.Table]]:
    """Cuts rows that are sorted by time at midnight (UTC)."""
    times = rows["at_ms"]
    start = 0
    while start < len(rows):
        day = times[start].as_py() // DAY_MS
        count = pc.sum(pc.less(times.slice(start), (day + 1) * DAY_MS)).as_py()
        yield day_of(day * DAY_MS), rows.slice(start, count)
        start += count


def write(
    filesystem: fs.FileSystem, layout: Layout, partition: Mapping[str, str], rows: pa.Table
) -> DataFile:
    """Writes rows, sorted by time, to a new file of which no log knows yet."""
    filled = [name for name in rows.column_names if rows[name].null_count < len(rows)]
    columns = rows.select(filled)
    buffer = pa.BufferOutputStream()
    pq.write_table(columns, buffer, **layout.writing(columns.column_names))
    content = buffer.getvalue()
    folder = "/".join(f"{name}={quote(value, safe='')}" for name, value in partition.items())
    path = f"{folder}/{uuid4().hex}.parquet"
    filesystem.create_dir(layout.path(folder), recursive=True)
    with filesystem.open_output_stream(layout.path(path)) as out:
        out.write(content)
    times = rows["at_ms"]
    return DataFile(
        path=path,
        partition=partition,
        rows=len(rows),
        size_bytes=content.size,
        oldest_ms=times[0].as_py(),
        newest_ms=times[-1].as_py(),
    )


def read(
    filesystem: fs.FileSystem,
    layout: Layout,
    file: DataFile,
    start_ms: int,
    end_ms: int,
    columns: Sequence[str] | None = None,
) -> pa.Table:
    """Reads the rows of [start, end), with the columns that the file has of those asked for."""
    with filesystem.open_input_file(layout.path(file.path)) as source:
        parquet = pq.ParquetFile(source, page_checksum_verification=True)
        if parquet.metadata.num_rows != file.rows:
            raise Misread(f"{parquet.metadata.num_rows} rows, the log says {file.rows}")
        names = parquet.schema_arrow.names
        wanted = [name for name in names if columns is None or name in columns]
        groups = _groups(parquet.metadata, names.index("at_ms"), start_ms, end_ms)
        rows = parquet.read_row_groups(groups, columns=wanted, use_threads=False)
    times = rows["at_ms"]
    return rows.filter(pc.and_(pc.greater_equal(times, start_ms), pc.less(times, end_ms)))


def _groups(metadata: pq.FileMetaData, at: int, start_ms: int, end_ms: int) -> list[int]:
    found = []
    for group in range(metadata.num_row_groups):
        statistics = metadata.row_group(group).column(at).statistics
        if statistics is None or (statistics.max >= start_ms and statistics.min < end_ms):
            found.append(group)
    return found
