"""One Parquet file of a table: written whole, read by time."""

import json
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake.transaction import AddAction, RemoveAction
from pyarrow import fs

from dashboard.history.tables import ROWS_PER_GROUP, Layout

DAY_MS = 86_400_000

# Logs keep paths URL-encoded, and not every reader decodes them alike.
_UNFIT = re.compile(r"[^A-Za-z0-9_.-]")


class Misread(Exception):
    """The file is not what the log says it is."""


@dataclass(frozen=True)
class DataFile:
    """A file that the table's log names, or will. `path` is relative to the table's folder."""

    path: str
    partition: Mapping[str, str]
    rows: int
    size_bytes: int
    oldest_ms: int
    newest_ms: int

    def added(self, *, data_change: bool = True) -> AddAction:
        statistics = {
            "numRecords": self.rows,
            "minValues": {"at_ms": self.oldest_ms},
            "maxValues": {"at_ms": self.newest_ms},
            "nullCount": {"at_ms": 0},
        }
        return AddAction(
            path=self.path,
            size=self.size_bytes,
            partition_values=self.partition,
            modification_time=_now_ms(),
            data_change=data_change,
            stats=json.dumps(statistics),
        )

    def removed(self, *, data_change: bool = True) -> RemoveAction:
        return RemoveAction(
            path=self.path,
            data_change=data_change,
            deletion_timestamp=_now_ms(),
            size=self.size_bytes,
            partition_values=dict(self.partition),
        )


def day_of(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d")


def by_day(rows: pa.Table) -> Iterator[tuple[str, pa.Table]]:
    """Cuts rows that are sorted by time at midnight (UTC)."""
    start = 0
    while start < len(rows):
        times = rows["at_ms"].slice(start)
        day = times[0].as_py() // DAY_MS
        count = pc.sum(pc.less(times, (day + 1) * DAY_MS)).as_py()
        yield day_of(day * DAY_MS), rows.slice(start, count)
        start += count


def write(
    filesystem: fs.FileSystem,
    layout: Layout,
    partition: Mapping[str, str],
    names: Sequence[str],
    tables: Iterable[pa.Table],
) -> DataFile:
    """Writes tables with some of these columns, by time, to a new file of which no log knows."""
    schema = pa.schema([layout.columns.field(name) for name in names])
    buffer = pa.BufferOutputStream()
    rows, oldest_ms, newest_ms = 0, 0, 0
    with pq.ParquetWriter(buffer, schema, **layout.writing(names)) as writer:
        for group in _regrouped(tables, schema):
            oldest_ms = oldest_ms if rows else group["at_ms"][0].as_py()
            newest_ms = group["at_ms"][-1].as_py()
            rows += len(group)
            writer.write_table(group)
    content = buffer.getvalue()
    # The log knows the values; folders are named after them for people who look.
    folder = "/".join(f"{name}={_UNFIT.sub('_', value)}" for name, value in partition.items())
    path = f"{folder}/{uuid4().hex}.parquet"
    filesystem.create_dir(layout.path(folder), recursive=True)
    with filesystem.open_output_stream(layout.path(path)) as out:
        out.write(content)
    return DataFile(path, partition, rows, content.size, oldest_ms, newest_ms)


def read(
    filesystem: fs.FileSystem,
    layout: Layout,
    file: DataFile,
    start_ms: int,
    end_ms: int,
    columns: Sequence[str] | None = None,
) -> pa.Table:
    """Reads the rows of [start, end): their times, and of the columns asked for those it has."""
    with filesystem.open_input_file(layout.path(file.path)) as source:
        parquet = pq.ParquetFile(source, page_checksum_verification=True)
        if parquet.metadata.num_rows != file.rows:
            raise Misread(f"{parquet.metadata.num_rows} rows, the log says {file.rows}")
        names = parquet.schema_arrow.names
        wanted = [name for name in names if columns is None or name in ("at_ms", *columns)]
        groups = groups_of(parquet.metadata, names.index("at_ms"), start_ms, end_ms)
        rows = parquet.read_row_groups(groups, columns=wanted, use_threads=False)
    times = rows["at_ms"]
    return rows.filter(pc.and_(pc.greater_equal(times, start_ms), pc.less(times, end_ms)))


def groups_of(metadata: pq.FileMetaData, column: int, start_ms: int, end_ms: int) -> list[int]:
    """The row groups with rows in [start, end), by the statistics of the column of times."""
    times = (
        metadata.row_group(group).column(column).statistics
        for group in range(metadata.num_row_groups)
    )
    return [group for group, of in enumerate(times) if of.max >= start_ms and of.min < end_ms]


def _regrouped(tables: Iterable[pa.Table], schema: pa.Schema) -> Iterator[pa.Table]:
    """The same rows in groups of the same size, whatever the sizes of the tables are."""
    pending = schema.empty_table()
    for table in tables:
        pending = pa.concat_tables([pending, _fitted(table, schema)])
        while len(pending) >= ROWS_PER_GROUP:
            yield pending.slice(0, ROWS_PER_GROUP)
            pending = pending.slice(ROWS_PER_GROUP)
    if len(pending):
        yield pending


def _fitted(table: pa.Table, schema: pa.Schema) -> pa.Table:
    columns = [
        table[field.name] if field.name in table.column_names else pa.nulls(len(table), field.type)
        for field in schema
    ]
    return pa.table(columns, schema=schema)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
