"""Where the tasks of one application on one host meet their pool.

A pool's *meeting place* is a small folder under the system's temporary one, named after user,
application and pool; it holds a lock and the word where the pool's files are. The files of one
*generation* of the pool (one life of its supervisor) are a folder in shared memory, or in one of
Spark's local folders where shared memory is small:

    plan               what the pool is made of          owners/PID-STARTED   for whom it works
    supervisor         whose pool it is                  page                 techniques.pool.page
    in-I-N             ring of instance I, life N        result-S-G           ring of slot S's task
    spilled-S-G-…      a message too large for a ring    start_failure-I      why I did not come up
"""

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from techniques.pool.host.identity import Process

PREFIX = "curtail-pool-"
PRIVATE = 0o700
# A folder without a supervisor may be one that is just being made.
YOUNG_S = 120


class Unsafe(Exception):
    """The folder at our path belongs to another user, or others can write to it."""


@dataclass(frozen=True)
class Meeting:
    folder: Path

    @classmethod
    def of(cls, application: str, name: str, digest: str) -> "Meeting":
        root = meeting_root()
        folder = root / f"{space()}-{application}-{name}-{digest}"
        for made in (root, folder):
            made.mkdir(mode=PRIVATE, exist_ok=True)
            status = made.lstat()
            # Files here are unpickled, so no other user may be able to write them.
            if status.st_uid != os.getuid() or status.st_mode & 0o077:
                raise Unsafe(f"{made} belongs to somebody else, or others may write to it")
        return cls(folder)

    @contextmanager
    def locked(self) -> Iterator[None]:
        file = self._lock()
        try:
            yield
        finally:
            file.close()

    def _lock(self) -> IO[str]:
        while True:
            self.folder.mkdir(mode=PRIVATE, exist_ok=True)
            with suppress(FileNotFoundError):
                file = open(self.folder / "lock", "w")  # noqa: SIM115
                fcntl.flock(file, fcntl.LOCK_EX)
                # While we waited for the lock, the last supervisor may have removed the folder.
                with suppress(FileNotFoundError):
                    if os.path.samestat(os.fstat(file.fileno()), os.stat(file.name)):
                        return file
                file.close()

    def current(self) -> str | None:
        """Returns the folder of the pool that runs here, if one does."""
        try:
            where, pid, started = (self.folder / "current").read_text().rsplit(maxsplit=2)
            lives = Process(int(pid), int(started)).lives()
        except (OSError, ValueError):
            return None
        return where if lives and os.path.isdir(where) else None

    def announce(self, where: str, supervisor: Process) -> None:
        new = self.folder / "current.new"
        new.write_text(f"{where} {supervisor.pid} {supervisor.started}")
        new.rename(self.folder / "current")

    def forget(self, where: str) -> None:
        """Unregisters an ending supervisor's pool, unless another one has taken its place."""
        with self.locked():
            try:
                ours = (self.folder / "current").read_text().startswith(f"{where} ")
            except FileNotFoundError:
                ours = True
            if ours:
                remove(str(self.folder))


def meeting_root() -> Path:
    return Path(tempfile.gettempdir(), f"curtail-pools-{os.getuid()}")


def space() -> int:
    """Returns the pid namespace: processes of other containers cannot check each other's pids."""
    return os.stat("/proc/self/ns/pid").st_ino


def ring_path(where: str, instance: int, incarnation: int) -> str:
    return os.path.join(where, f"in-{instance}-{incarnation}")


def shared_path(where: str, position: int) -> str:
    return os.path.join(where, f"shared-{position}")


def result_path(where: str, slot: int, generation: int) -> str:
    return os.path.join(where, f"result-{slot}-{generation}")


def start_failure_path(where: str, instance: int) -> Path:
    return Path(where, f"start_failure-{instance}")


def register(where: str, owner: Process) -> None:
    """Adds an owner; the pool runs for as long as one of its owners lives."""
    owners = Path(where, "owners")
    owners.mkdir(mode=PRIVATE, exist_ok=True)
    (owners / f"{owner.pid}-{owner.started}").touch()


def owners_live(where: str) -> bool:
    return any(
        Process(*map(int, path.name.split("-"))).lives() for path in Path(where, "owners").iterdir()
    )


def sweep(parent: str) -> None:
    """Removes the files of pools whose supervisor and owners were all killed."""
    for path in Path(parent).glob(f"{PREFIX}*"):
        with suppress(OSError, ValueError):
            if path.lstat().st_uid != os.getuid():
                continue
            try:
                supervisor = Process(*map(int, (path / "supervisor").read_text().split()))
            except FileNotFoundError:
                if time.time() - path.stat().st_mtime < YOUNG_S:
                    continue
                supervisor = Process(0, 0)
            if not supervisor.lives():
                remove(str(path))


def remove(where: str) -> None:
    shutil.rmtree(where, ignore_errors=True)


def local_dirs() -> Sequence[str]:
    """Spark's scratch folders, from the environment of its Python workers."""
    named = os.environ.get("SPARK_LOCAL_DIRS", "")
    return [one for one in named.split(",") if one] or [tempfile.gettempdir()]
