"""Files that cannot be read: named, set aside and counted, while all others are still read.

A record of each is kept in the archive's folder `damaged`, so that nobody stumbles over it again.
Whoever restores the file from a backup deletes its record.
"""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from threading import Lock

import pyarrow as pa
from pyarrow import fs

from dashboard.history import data_files
from dashboard.history.data_files import DataFile
from dashboard.history.delta import Log
from dashboard.history.tables import Layout

FOLDER = "damaged"


@dataclass(frozen=True)
class Damaged:
    """One file: `path` in the archive's folder, and what is missing without it."""

    path: str
    why: str
    job_id: str
    rows: int
    oldest_ms: int
    newest_ms: int
    found_ms: int


class Reading:
    """Reads rows of tables around the files that are damaged."""

    def __init__(self, filesystem: fs.FileSystem) -> None:
        self._filesystem = filesystem
        self._lock = Lock()
        self._aside: set[str] | None = None

    def rows(
        self,
        log: Log,
        layout: Layout,
        partition: Mapping[str, str],
        start_ms: int,
        end_ms: int,
        columns: Sequence[str] | None,
    ) -> pa.Table | None:
        """The rows of [start, end) by time; None if there are none."""
        files = log.files(partition, start_ms, end_ms)
        found: list[pa.Table] = []
        while files:
            file = files.pop(0)
            if self._is_aside(layout, file):
                continue
            try:
                rows = data_files.read(self._filesystem, layout, file, start_ms, end_ms, columns)
            except (OSError, pa.ArrowException, data_files.Misread) as error:
                now = log.files(partition, start_ms, end_ms)
                if all(each.path != file.path for each in now):
                    # Compaction replaced it while we read: begin again with what is there now.
                    files, found = now, []
                    continue
                self._set_aside(layout, file, error)
                continue
            found.append(rows)
        found = [rows for rows in found if len(rows)]
        if not found:
            return None
        together = pa.concat_tables(found, promote_options="default")
        return together.sort_by("at_ms")

    def damaged(self) -> list[Damaged]:
        selector = fs.FileSelector(FOLDER, allow_not_found=True)
        found = []
        for info in self._filesystem.get_file_info(selector):
            with self._filesystem.open_input_stream(info.path) as record:
                found.append(Damaged(**json.loads(record.readall())))
        return sorted(found, key=lambda each: (each.oldest_ms, each.path))

    def _is_aside(self, layout: Layout, file: DataFile) -> bool:
        with self._lock:
            if self._aside is None:
                self._aside = {each.path for each in self.damaged()}
            return f"{layout.name}/{file.path}" in self._aside

    def _set_aside(self, layout: Layout, file: DataFile, error: Exception) -> None:
        path = f"{layout.name}/{file.path}"
        # Reading it to the end tells a file that is broken from a storage that is.
        why = str(error)
        try:
            with self._filesystem.open_input_stream(path) as source:
                while source.read(1 << 20):
                    pass
        except FileNotFoundError:
            why = "the file is missing"
        with self._lock:
            assert self._aside is not None
            self._aside.add(path)
        damaged = Damaged(
            path=path,
            why=why,
            job_id=file.partition["job"],
            rows=file.rows,
            oldest_ms=file.oldest_ms,
            newest_ms=file.newest_ms,
            found_ms=time.time_ns() // 1_000_000,
        )
        name = f"{FOLDER}/{sha256(path.encode()).hexdigest()[:16]}.json"
        self._filesystem.create_dir(FOLDER, recursive=True)
        with self._filesystem.open_output_stream(name) as out:
            out.write(json.dumps(asdict(damaged), indent=1).encode())
