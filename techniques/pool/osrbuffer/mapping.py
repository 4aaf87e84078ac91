"""A ring's file in memory, and the words that compiled code reads."""

import ctypes
import mmap
import os
from contextlib import suppress
from pathlib import Path

from techniques.pool.host import timer
from techniques.pool.osrbuffer.errors import NotARing
from techniques.pool.osrbuffer.layout import (
    CAPACITY,
    CLOCK_NS,
    HEAD_BYTES,
    MAGIC,
    MAGIC_VALUE,
    PAGE_BYTES,
    UNIT_BYTES,
    unit_bytes,
)

BELL_SUFFIX = ".bell"


class Mapping:
    """Maps the file and touches all its pages, so that no send has to wait for a page fault."""

    def __init__(self, path: str) -> None:
        with open(path, "r+b") as file:
            size = os.fstat(file.fileno()).st_size
            if size <= PAGE_BYTES:
                raise NotARing(f"{path} is no ring: only {size} bytes")
            if not os.path.exists(path + BELL_SUFFIX):
                raise NotARing(f"{path} is no ring of this version")
            flags = mmap.MAP_SHARED | mmap.MAP_POPULATE
            self.bytes = mmap.mmap(file.fileno(), size, flags=flags)
        self.bell = os.open(path + BELL_SUFFIX, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self.clock = timer.every(CLOCK_NS)
        self._anchor: ctypes.c_char | None = ctypes.c_char.from_buffer(self.bytes)
        self.base = ctypes.addressof(self._anchor)
        self.capacity, self.unit = self.word(CAPACITY), self.word(UNIT_BYTES)
        if self.word(MAGIC) != MAGIC_VALUE or self.capacity * self.unit != size - PAGE_BYTES:
            self.close()
            raise NotARing(f"{path} is no ring of this version")

    @property
    def limit_bytes(self) -> int:
        """The largest body that fits."""
        return self.capacity * self.unit - HEAD_BYTES

    def word(self, offset: int) -> int:
        return ctypes.c_int64.from_address(self.base + offset).value

    def close(self) -> None:
        if self._anchor is not None:
            self._anchor = None
            os.close(self.bell)
            os.close(self.clock)
            self.bytes.close()


def remove(path: str) -> None:
    """Deletes the files; processes that have them open go on."""
    os.unlink(path)
    with suppress(FileNotFoundError):
        os.unlink(path + BELL_SUFFIX)


def make(path: str, capacity_bytes: int) -> None:
    """Creates the file of an empty ring; it gets its name only when complete and allocated."""
    unit = unit_bytes(capacity_bytes)
    capacity = max(2, -(-capacity_bytes // unit))
    draft = f"{path}.{os.getpid()}"
    file = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        # Allocate now: a later write to a full /dev/shm would end the process (SIGBUS).
        os.posix_fallocate(file, 0, PAGE_BYTES + capacity * unit)
        for offset, value in ((CAPACITY, capacity), (UNIT_BYTES, unit), (MAGIC, MAGIC_VALUE)):
            os.pwrite(file, value.to_bytes(8, "little"), offset)
        with suppress(FileNotFoundError):
            os.unlink(path + BELL_SUFFIX)
        os.mkfifo(path + BELL_SUFFIX, 0o600)
        os.rename(draft, path)
    except OSError:
        with suppress(FileNotFoundError):
            Path(draft).unlink()
        raise
    finally:
        os.close(file)
