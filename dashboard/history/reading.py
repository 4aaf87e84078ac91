"""Rows of a table by time, around the files that are damaged."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import pyarrow as pa
from pyarrow import fs

from dashboard.history import data_files
from dashboard.history.damage import SetAside
from dashboard.history.data_files import DataFile
from dashboard.history.delta import Log


class Replaced(Exception):
    """Compaction or retention took the file away while it was being read."""


@dataclass(frozen=True)
class Range:
    """What is read: rows of [start, end) in the partitions that match, with some columns or all."""

    partition: Mapping[str, str]
    start_ms: int
    end_ms: int
    columns: Sequence[str] | None = None


class Reading:
    def __init__(self, filesystem: fs.FileSystem) -> None:
        self._filesystem = filesystem
        self.aside = SetAside(filesystem)

    def rows(self, log: Log, wanted: Range) -> pa.Table | None:
        """The rows by time; None if there are none."""
        while True:
            files = log.files(wanted.partition, wanted.start_ms, wanted.end_ms)
            try:
                found = [rows for _, rows in self.each(log, files, wanted) if len(rows)]
            except Replaced:
                continue
            if not found:
                return None
            together = pa.concat_tables(found, promote_options="default")
            return together if _follow(found) else together.sort_by("at_ms")

    def each(
        self, log: Log, files: Sequence[DataFile], wanted: Range
    ) -> Iterator[tuple[DataFile, pa.Table]]:
        """The rows of each file that can be read; one that cannot is set aside."""
        for file in files:
            if log.layout.path(file.path) in self.aside:
                continue
            try:
                rows = data_files.read(
                    self._filesystem,
                    log.layout,
                    file,
                    wanted.start_ms,
                    wanted.end_ms,
                    wanted.columns,
                )
            except (OSError, pa.ArrowException, data_files.Misread) as error:
                if not log.holds(file):
                    raise Replaced(file.path) from error
                self.aside.add(log.layout, file, error)
            else:
                yield file, rows


def _follow(tables: Sequence[pa.Table]) -> bool:
    """Whether each begins after the end of the one before, as the files of one stream do."""
    return all(
        one["at_ms"][-1].as_py() < other["at_ms"][0].as_py() for one, other in pairwise(tables)
    )
