"""One Delta table of the archive: its log read as files and marks, and commits to it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from threading import Lock

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import CommitProperties, DeltaTable, Schema
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError

from dashboard.history import marks
from dashboard.history.data_files import DataFile
from dashboard.history.errors import ArchiveUnavailable, Overtaken
from dashboard.history.place import Place
from dashboard.history.tables import Layout


@contextmanager
def reached(place: Place) -> Iterator[None]:
    """What the storage refuses is `ArchiveUnavailable`, with the reason it gave."""
    try:
        yield
    except (DeltaError, OSError, pa.ArrowException) as error:
        raise ArchiveUnavailable(f"the archive at {place.uri}: {error}") from error


class Log:
    """The log of one table. Reading shares one snapshot, brought up to date by each call; a commit
    starts from one of its own, since it is judged by what changed since that was read."""

    def __init__(self, place: Place, layout: Layout) -> None:
        self._place = place
        self._layout = layout
        self._lock = Lock()
        self._shared: DeltaTable | None = None
        self._files: tuple[int, pa.Table] | None = None

    def opened(self) -> DeltaTable | None:
        """A snapshot of its own; None if there is no table yet."""
        try:
            return DeltaTable(self._uri, storage_options=self._options)
        except TableNotFoundError:
            return None

    def made(self) -> DeltaTable:
        """A snapshot of its own, of a new table if there was none."""
        if found := self.opened():
            return found
        # It fails if another archiver makes the table in this moment; if it fails for another
        # reason, opening says which.
        with suppress(CommitFailedError):
            DeltaTable.create(
                self._uri,
                schema=Schema.from_arrow(self._layout.schema),
                partition_by=self._layout.partitions.names,
                mode="ignore",
                storage_options=self._options,
            )
        return DeltaTable(self._uri, storage_options=self._options)

    def marks(self, names: Sequence[str]) -> dict[str, int]:
        with self._lock:
            table = self._current()
            return {name: marks.read(table, name) for name in names}

    def files(self, partition: Mapping[str, str], start_ms: int, end_ms: int) -> list[DataFile]:
        """The files of a partition (or of all that match) with rows in [start, end), by time."""
        with self._lock:
            table = self._current()
            if table is None:
                return []
            if self._files is None or self._files[0] != table.version():
                self._files = table.version(), pa.table(table.get_add_actions(flatten=True))
            rows = self._files[1]
        if not len(rows):
            return []
        chosen = pc.and_(
            pc.greater_equal(rows["max.at_ms"], start_ms), pc.less(rows["min.at_ms"], end_ms)
        )
        for name, value in partition.items():
            chosen = pc.and_(chosen, pc.equal(rows[f"partition.{name}"].cast(pa.string()), value))
        found = [self._file(each) for each in rows.filter(chosen).to_pylist()]
        return sorted(found, key=lambda file: (file.oldest_ms, file.path))

    def commit(
        self,
        table: DeltaTable,
        files: Sequence[DataFile],
        moved: Mapping[str, int],
        seen: Mapping[str, int],
    ) -> None:
        """Adds the files and moves the marks, or raises `Overtaken` if one is not as seen."""
        try:
            table.create_write_transaction(
                [file.added() for file in files],
                mode="append",
                schema=Schema.from_arrow(self._layout.schema),
                partition_by=self._layout.partitions.names,
                commit_properties=CommitProperties(app_transactions=marks.transactions(moved)),
            )
        except CommitFailedError:
            self.check(self.opened(), seen)
            raise

    def check(self, table: DeltaTable | None, seen: Mapping[str, int]) -> None:
        for name, mark in seen.items():
            if (now := marks.read(table, name)) != mark:
                raise Overtaken(f"{self._layout.name} of {name} are archived until {now}")

    def _current(self) -> DeltaTable | None:
        if self._shared is None:
            self._shared = self.opened()
        else:
            self._shared.update_incremental()
        return self._shared

    def _file(self, row: Mapping[str, object]) -> DataFile:
        return DataFile(
            path=str(row["path"]),
            partition={
                name: str(row[f"partition.{name}"]) for name in self._layout.partitions.names
            },
            rows=int(str(row["num_records"])),
            size_bytes=int(str(row["size_bytes"])),
            oldest_ms=int(str(row["min.at_ms"])),
            newest_ms=int(str(row["max.at_ms"])),
        )

    @property
    def _uri(self) -> str:
        return self._place.table(self._layout.name)

    @property
    def _options(self) -> dict[str, str]:
        return dict(self._place.options)
