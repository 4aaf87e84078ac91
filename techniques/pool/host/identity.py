"""Process identity: a pid alone may belong to another process by the time it is checked."""

import os
from typing import NamedTuple, Self

JAVA = "java"


class Process(NamedTuple):
    """A pid with the time it was started at, in the kernel's ticks since boot."""

    pid: int
    started: int

    @classmethod
    def of(cls, pid: int) -> Self | None:
        """Returns the process; None if there is none, or only a zombie."""
        fields = _stat(pid)
        # A first thread that ended before the others looks like a zombie too.
        if fields is None or (fields[0] in "ZX" and int(fields[17]) < 2):
            return None
        return cls(pid, int(fields[19]))

    @classmethod
    def this(cls) -> Self:
        found = cls.of(os.getpid())
        assert found is not None
        return found

    def lives(self) -> bool:
        return Process.of(self.pid) == self


def parent_of(pid: int) -> int:
    fields = _stat(pid)
    return int(fields[1]) if fields else 0


def owner() -> Process:
    """Returns the process that a pool belongs to: a Spark Python worker's JVM, else this process.

    A Python worker is a child of the JVM or of a daemon that is; the daemon may be replaced, the
    JVM is the executor.
    """
    pid = parent_of(os.getpid())
    while pid > 1:
        if _program(pid) == JAVA and (found := Process.of(pid)):
            return found
        pid = parent_of(pid)
    return Process.this()


def _program(pid: int) -> str:
    try:
        return os.path.basename(os.readlink(f"/proc/{pid}/exe"))
    except OSError:
        return ""


def _stat(pid: int) -> list[str] | None:
    """Returns the fields after the command's name, which may contain blanks and brackets."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()
    except OSError:
        return None
