"""One Delta table of the archive: its log read as files and marks, and commits to it."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from threading import Lock
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import CommitProperties, DeltaTable, Schema
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError

from dashboard.history import marks
from dashboard.history.data_files import DataFile
from dashboard.history.errors import ArchiveUnavailable, Overtaken
from dashboard.history.place import Place
from dashboard.history.tables import Layout

# Each try is a new number in the log: with hundreds of writers some have to wait for their turn.
_COMMIT_RETRIES = 100

_CONFIGURATION = {
    # A snapshot is read from the last checkpoint and the commits since.
    "delta.checkpointInterval": "50",
    # Nobody asks for the archive as it was last week.
    "delta.logRetentionDuration": "interval 2 days",
    "delta.enableExpiredLogCleanup": "true",
    "delta.deletedFileRetentionDuration": "interval 1 days",
}


@contextmanager
def reached(place: Place) -> Iterator[None]:
    """What the storage refuses is `ArchiveUnavailable`, with the reason that it gave."""
    try:
        yield
    except (DeltaError, OSError, pa.ArrowException) as error:
        raise ArchiveUnavailable(f"the archive at {place.uri}: {error}") from error


class Log:
    """The log of one table. Reading shares one snapshot, brought up to date by each call; a commit
    starts from one of its own, since it is judged by what changed since that was read."""

    def __init__(self, place: Place, layout: Layout) -> None:
        self.layout = layout
        self._place = place
        self._lock = Lock()
        self._shared: DeltaTable | None = None
        self._folder: int | None = None
        self._files: tuple[int, pa.Table] | None = None

    def opened(self) -> DeltaTable | None:
        """A snapshot of its own; None if there is no table yet."""
        try:
            return DeltaTable(self._uri, storage_options=self._options)
        except TableNotFoundError:
            return None

    def made(self) -> DeltaTable:
        """A snapshot of its own, of a new table if there was none, and with all our columns."""
        if found := self.opened():
            return self._widened(found)
        # It fails if another archiver makes the table in this moment; if it fails for another
        # reason, opening says which.
        with suppress(CommitFailedError):
            DeltaTable.create(
                self._uri,
                schema=Schema.from_arrow(self.layout.schema),
                partition_by=self.layout.partitions.names,
                mode="ignore",
                configuration=_CONFIGURATION,
                storage_options=self._options,
            )
        return DeltaTable(self._uri, storage_options=self._options)

    def _widened(self, table: DeltaTable) -> DeltaTable:
        """Adds columns that the version which made the table did not have."""
        wanted = Schema.from_arrow(self.layout.schema).fields
        known = {field.name for field in table.schema().fields}
        if missing := [field for field in wanted if field.name not in known]:
            table.alter.add_columns(missing)
            table.update_incremental()
        return table

    def marks(self, names: Sequence[str]) -> dict[str, int]:
        with self._lock:
            table = self._current()
            return {name: marks.read(table, name) for name in names}

    def files(self, partition: Mapping[str, str], start_ms: int, end_ms: int) -> list[DataFile]:
        """The files with rows in [start, end), of the partitions that match, by time."""
        rows = self._added()
        if rows is None or not len(rows):
            return []
        chosen = pc.and_(
            pc.greater_equal(rows["max.at_ms"], start_ms), pc.less(rows["min.at_ms"], end_ms)
        )
        for name, value in partition.items():
            chosen = pc.and_(chosen, pc.equal(rows[f"partition.{name}"].cast(pa.string()), value))
        found = [self._file(each) for each in rows.filter(chosen).to_pylist()]
        return sorted(found, key=lambda file: (file.oldest_ms, file.path))

    def holds(self, file: DataFile) -> bool:
        """Whether the file is still part of the table."""
        rows = self._added()
        return rows is not None and file.path in rows["path"].to_pylist()

    def commit(
        self,
        table: DeltaTable,
        actions: Sequence[Any],
        moved: Mapping[str, int],
        seen: Mapping[str, int],
    ) -> None:
        """Adds and removes files and moves the marks, or raises `Overtaken` if one is not as
        seen. Either all of it is done or nothing."""
        try:
            table.create_write_transaction(
                list(actions),
                mode="append",
                schema=Schema.from_arrow(self.layout.schema),
                partition_by=self.layout.partitions.names,
                commit_properties=CommitProperties(
                    max_commit_retries=_COMMIT_RETRIES,
                    app_transactions=marks.transactions(moved),
                ),
            )
        except CommitFailedError:
            self.check(self.opened(), seen)
            raise

    def check(self, table: DeltaTable | None, seen: Mapping[str, int]) -> None:
        for name, mark in seen.items():
            if (now := marks.read(table, name)) != mark:
                raise Overtaken(f"{self.layout.name} of {name} are archived until {now}")

    def _current(self) -> DeltaTable | None:
        folder = self._identity()
        if self._shared is None or folder != self._folder:
            self._shared, self._folder, self._files = self.opened(), folder, None
        else:
            self._shared.update_incremental()
        return self._shared

    def _added(self) -> pa.Table | None:
        with self._lock:
            if (table := self._current()) is None:
                return None
            if self._files is None or self._files[0] != table.version():
                self._files = table.version(), pa.table(table.get_add_actions(flatten=True))
            return self._files[1]

    def _identity(self) -> int | None:
        """Tells a table from one that was deleted and made anew, which numbers its log again."""
        if not self._place.is_local:
            return None
        with suppress(OSError):
            return os.stat(f"{self._uri}/_delta_log").st_ino
        return None

    def _file(self, row: Mapping[str, Any]) -> DataFile:
        names = self.layout.partitions.names
        return DataFile(
            path=row["path"],
            partition={name: str(row[f"partition.{name}"]) for name in names},
            rows=row["num_records"],
            size_bytes=row["size_bytes"],
            oldest_ms=row["min.at_ms"],
            newest_ms=row["max.at_ms"],
        )

    @property
    def _uri(self) -> str:
        return self._place.table(self.layout.name)

    @property
    def _options(self) -> dict[str, str]:
        return dict(self._place.options)
