"""One queue for all instances of an operator: a ring whose consumers take turns.

A ring has one consumer at a time, so an instance holds a lock while it takes one chunk. It sleeps
on a pipe that has a byte for each chunk: the kernel wakes one sleeper per byte, not all. The lock
is the kernel's too: an instance that dies frees it. A byte may get lost with a dying instance, but
never a chunk: whoever looks without a byte in hand finds it, at the latest after its next wait.
"""

import fcntl
import os
import select
import time
from collections.abc import Mapping
from contextlib import suppress

from techniques.pool.messages import Parcel
from techniques.pool.osrbuffer.compiled import Entry
from techniques.pool.osrbuffer.ring import Ring

TOKENS, LOCK = ".tokens", ".turn"
# A stopped process may hold the lock; then the others go on with what else they have.
TURN_S = 0.005
TRY_AGAIN_S = 0.0002


class SharedQueue:
    """One process's access to the queue; many may send and many may take."""

    def __init__(self, path: str, code: Mapping[str, Entry] | None = None) -> None:
        """`code` is another build of the ring's protocol, for tests."""
        self._ring = Ring(path, code)
        self._path = path
        self._tokens = os.open(path + TOKENS, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self._turn = -1
        self._sleep: select.epoll | None = None

    @staticmethod
    def create(path: str, capacity_bytes: int) -> None:
        """Creates the files; the ring's own comes last, so whoever finds it finds all."""
        os.mkfifo(path + TOKENS, 0o600)
        os.close(os.open(path + LOCK, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))
        Ring.create(path, capacity_bytes).close()

    def offer(self, parcel: Parcel, timeout_s: float = 0) -> bool:
        if not parcel.offer(self._ring, timeout_s):
            return False
        # A full pipe has more bytes than there are sleepers.
        with suppress(BlockingIOError):
            os.write(self._tokens, b"\0")
        return True

    def depth(self) -> int:
        return self._ring.depth()

    def take(self, timeout_s: float) -> bytes | None:
        """Returns a message that no other instance gets; None if none came in time."""
        if timeout_s > 0 and not self._ring.depth():
            self._sleeper().poll(timeout_s)
        with suppress(BlockingIOError):
            os.read(self._tokens, 1)
        # Whatever its depth: one who died in the middle of its turn may have left it looking empty.
        if not self._begin_turn():
            return None
        try:
            self._ring.take_turn()
            message = self._ring.receive(0)
        finally:
            fcntl.flock(self._turn, fcntl.LOCK_UN)
        return None if message is None else message.body

    def close(self) -> None:
        self._ring.close()
        os.close(self._tokens)
        if self._turn >= 0:
            os.close(self._turn)
        if self._sleep is not None:
            self._sleep.close()

    def _sleeper(self) -> select.epoll:
        if self._sleep is None:
            self._sleep = select.epoll()
            self._sleep.register(self._tokens, select.EPOLLIN | select.EPOLLEXCLUSIVE)
        return self._sleep

    def _begin_turn(self) -> bool:
        if self._turn < 0:
            # Opened here and not before a fork: processes that share a descriptor share its lock.
            self._turn = os.open(self._path + LOCK, os.O_WRONLY | os.O_CLOEXEC)
        until_s = time.monotonic() + TURN_S
        while True:
            try:
                fcntl.flock(self._turn, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            except BlockingIOError:
                if time.monotonic() >= until_s:
                    return False
                time.sleep(TRY_AGAIN_S)
