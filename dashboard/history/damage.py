"""Files that cannot be read: named, set aside and counted, while all others are still read.

A record of each is kept in the archive's folder `damaged`, so that nobody stumbles over it again.
Whoever restores a file from a backup deletes its record; the next process reads the file again.
"""

import errno
import json
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from threading import Lock

from pyarrow import fs

from dashboard.history.data_files import DataFile
from dashboard.history.tables import Layout

FOLDER = "damaged"
_READ_BYTES = 1 << 20
# A file with one of these cannot be read, however often one tries.
_LOST = (errno.ENOENT, errno.EIO)


@dataclass(frozen=True)
class Damaged:
    """One file: `path` in the archive's folder, and what is missing without it."""

    path: str
    why: str
    table: str
    job_id: str
    rows: int
    oldest_ms: int
    newest_ms: int
    found_ms: int


class SetAside:
    """The records of damaged files. They are read once, and known to all threads."""

    def __init__(self, filesystem: fs.FileSystem) -> None:
        self._filesystem = filesystem
        self._lock = Lock()
        self._paths: set[str] | None = None

    def __contains__(self, path: str) -> bool:
        with self._lock:
            if self._paths is None:
                self._paths = {each.path for each in self.records()}
            return path in self._paths

    def add(self, layout: Layout, file: DataFile, error: Exception) -> None:
        """Sets a file aside that could not be read because of `error`.

        Raises what the storage raises if not the file is at fault but its storage."""
        path = layout.path(file.path)
        found = Damaged(
            path=path,
            why=_missing(self._filesystem, path) or f"{error}",
            table=layout.name,
            job_id=file.partition["job"],
            rows=file.rows,
            oldest_ms=file.oldest_ms,
            newest_ms=file.newest_ms,
            found_ms=time.time_ns() // 1_000_000,
        )
        with self._lock:
            self._paths = {*(self._paths or ()), path}
        # Where nothing can be written it is set aside for this process alone, and all else is read.
        with suppress(OSError):
            self._filesystem.create_dir(FOLDER, recursive=True)
            with self._filesystem.open_output_stream(_record(path)) as out:
                out.write(json.dumps(asdict(found), indent=1).encode())

    def records(self) -> list[Damaged]:
        selector = fs.FileSelector(FOLDER, allow_not_found=True)
        found = []
        for info in self._filesystem.get_file_info(selector):
            # A record that a full disk cut off is written again when its file is read again.
            with (
                suppress(ValueError, TypeError),
                self._filesystem.open_input_stream(info.path) as record,
            ):
                found.append(Damaged(**json.loads(record.readall())))
        return sorted(found, key=lambda each: (each.oldest_ms, each.path))

    def forget(self, paths: Iterable[str]) -> None:
        """Deletes the records of files that are no longer part of the archive."""
        for path in paths:
            self._filesystem.delete_file(_record(path))
            with self._lock:
                if self._paths is not None:
                    self._paths = self._paths - {path}


def _record(path: str) -> str:
    return f"{FOLDER}/{sha256(path.encode()).hexdigest()[:16]}.json"


def _missing(filesystem: fs.FileSystem, path: str) -> str:
    """Why the bytes of the file cannot be had; empty if they can, and are wrong."""
    try:
        with filesystem.open_input_stream(path) as source:
            while source.read(_READ_BYTES):
                pass
    except OSError as error:
        if error.errno in _LOST or isinstance(error, FileNotFoundError):
            return f"{error}"
        raise
    return ""
