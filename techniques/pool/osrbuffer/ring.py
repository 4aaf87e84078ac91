"""OSRBuffer: messages between the processes of one host through shared memory.

Many producers, one consumer, variable sizes, order kept per producer. The bytes are described in
`layout.py`, what happens to them in `protocol.py`. Nothing is lost and nothing comes twice while
both sides live. If a writer is killed before its message is ready, only that message is skipped. If
a consumer is killed, only the message it had just received is lost.
"""

import ctypes
import logging
import os
import time
from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from techniques.pool.host import processes
from techniques.pool.osrbuffer import mapping
from techniques.pool.osrbuffer.compiled import Entry, entries
from techniques.pool.osrbuffer.errors import Taken, WriterLost
from techniques.pool.osrbuffer.layout import (
    BLOCKED,
    BROKEN,
    CLOCK_NS,
    CONSUMER,
    FOUND_AT,
    FOUND_CLAIM,
    FOUND_TARGET,
    FOUND_WORDS,
    GARBAGE,
    HEAD_BYTES,
    HELD,
    LOST,
    MY_WORDS,
    NOTHING,
    PAGE_BYTES,
    SKIPPED,
    WRITER_SHIFT,
    units,
)

_log = logging.getLogger(__name__)

# How long one call of compiled code may last. Then Python handles signals, and a sleeper that was
# not woken, because the other side was killed at that moment, looks again.
SLICE_NS = CLOCK_NS
FOREVER_NS = 2**62
# How long to spin before sleeping: a message that comes within it costs no sleep.
SPIN_NS = 20_000
# How often to check that writers of unfinished messages live, while they block nothing.
LOOK_EVERY_S = 0.01
NOT_LENT = -1
# Messages up to this are copied twice and cost one call of compiled code instead of two.
SCRATCH_BYTES = 16_384

Body = bytes | bytearray | memoryview
# Used to get the address of a buffer's first byte.
_OneByte = ctypes.c_char * 1


class Message(NamedTuple):
    target: int
    body: bytes


class Ring:
    def __init__(self, path: str, code: Mapping[str, Entry] | None = None) -> None:
        """`code` is another build of the protocol, for tests."""
        self.path = path
        self._map = mapping.Mapping(path)
        code = entries() if code is None else code
        self._code = code
        self._send_code, self._send_now_code = code["send"], code["send_now"]
        self._receive_code, self._done_code = code["receive"], code["done"]
        # The largest body that can ever be sent.
        self.limit_bytes = self._map.limit_bytes
        self._mark = processes.own_mark()
        spin_ns = SPIN_NS if len(os.sched_getaffinity(0)) > 1 else 0
        bell = self._map.bell
        self._scratch_bytes = (ctypes.c_char * SCRATCH_BYTES)()
        self._scratch_view = memoryview(self._scratch_bytes).cast("B")
        self._scratch = ctypes.addressof(self._scratch_bytes)
        shape = (self._map.base, self._map.capacity, self._map.unit, self._mark, spin_ns, bell)
        self._my_words = (ctypes.c_int64 * MY_WORDS)(
            *shape, self._scratch, SCRATCH_BYTES, self._map.clock
        )
        self._me = ctypes.addressof(self._my_words)
        self._found_words = (ctypes.c_int64 * FOUND_WORDS)()
        self._found = ctypes.addressof(self._found_words)
        # The view that `look` returned, and its position if it is not in the scratch buffer.
        self._lent: memoryview | None = None
        self._lent_at = NOT_LENT
        self._consumes = False
        self._looked_s = 0.0

    @classmethod
    def create(cls, path: str, capacity_bytes: int) -> "Ring":
        mapping.make(path, capacity_bytes)
        return cls(path)

    @classmethod
    def attach(cls, path: str) -> "Ring":
        return cls(path)

    @property
    def skipped(self) -> int:
        """Messages given up so far because their writer died."""
        return self._map.word(SKIPPED)

    @property
    def garbage(self) -> int:
        """Slots given up so far because their bytes made no sense."""
        return self._map.word(GARBAGE)

    # ---- producers ------------------------------------------------------------------------

    def send(
        self, body: Body | Sequence[Body], target: int = 0, timeout_s: float | None = None
    ) -> bool:
        """Sends a message (a sequence is joined to one); returns whether there was room in time."""
        if isinstance(body, bytes):
            return self._send_one(target, len(body), body, timeout_s)
        if isinstance(body, bytearray) and body:
            return self._send_one(target, len(body), _OneByte.from_buffer(body), timeout_s)
        parts = [body] if isinstance(body, bytearray | memoryview) else body
        return self._send_parts(target, parts, timeout_s)

    def _send_one(
        self,
        target: int,
        length: int,
        body: bytes | ctypes.Array[ctypes.c_char],
        timeout_s: float | None,
    ) -> bool:
        # The fast path has few steps: right after a sleep, each costs several times the usual.
        if length <= self.limit_bytes and self._mark == processes.known:
            at = self._send_now_code(self._me, target, length, body)
            if at >= 0:
                return True
            if at == LOST:
                raise self._lost()
        return self._send(target, length, body, None, timeout_s)

    def _send_parts(self, target: int, parts: Iterable[Body], timeout_s: float | None) -> bool:
        # The arrays keep the buffers alive while compiled code reads them.
        arrays = [np.frombuffer(part, np.uint8) for part in parts]
        table = array("q")
        for each in arrays:
            table.extend((each.__array_interface__["data"][0], each.size))
        length = sum(each.size for each in arrays)
        return self._send(target, length, 0, table, timeout_s)

    def _send(
        self,
        target: int,
        length: int,
        body: bytes | ctypes.Array[ctypes.c_char] | int,
        table: "array[int] | None",
        timeout_s: float | None,
    ) -> bool:
        if length > self._map.limit_bytes:
            raise ValueError(
                f"a message of {length} bytes never fits {self.path}: "
                f"at most {self._map.limit_bytes}"
            )
        if self._mark != processes.own_mark():
            self._forked()
        parts, count = (table.buffer_info()[0], len(table) // 2) if table is not None else (0, 0)
        size = units(length, self._map.unit)
        until_ns = _until_ns(timeout_s)
        while True:
            wait_ns = SLICE_NS
            if timeout_s is not None:
                wait_ns = max(0, min(SLICE_NS, until_ns - time.monotonic_ns()))
            at = self._send_code(self._me, target, length, body, parts, count, size, wait_ns)
            if at >= 0:
                return True
            if at == LOST:
                raise self._lost()
            if timeout_s is not None and time.monotonic_ns() >= until_ns:
                return False

    def _lost(self) -> WriterLost:
        return WriterLost(f"the consumer of {self.path} took this process for dead")

    # ---- the consumer ---------------------------------------------------------------------

    def receive(self, timeout_s: float | None = None) -> Message | None:
        """Returns the next message, in order per producer; None if none came in time."""
        at = self._next(_until_ns(timeout_s))
        if at == NOTHING:
            return None
        if at < 0:
            return self._take()
        target = self._found_words[FOUND_TARGET // 8]
        return Message(target, ctypes.string_at(self._scratch, at))

    def look(self, timeout_s: float | None = None) -> memoryview | None:
        """Returns the next body, valid until the next call. A large one is read in the ring itself;
        if the consumer is killed meanwhile, the next consumer gets it again."""
        at = self._next(_until_ns(timeout_s))
        if at == NOTHING:
            return None
        if at < 0:
            return self._lend()
        self._lent = self._scratch_view[:at]
        return self._lent

    def _next(self, until_ns: int) -> int:
        """Waits for a message; returns its length if it is in the scratch, or HELD or NOTHING."""
        if self._lent is not None:
            self._give_back()
        if not self._consumes or self._mark != processes.known:
            self._begin_to_consume()
        while True:
            wait_ns = max(0, min(SLICE_NS, until_ns - time.monotonic_ns()))
            at = self._receive_code(self._me, self._found, wait_ns)
            if at >= 0 or at == HELD:
                return at
            if at == BLOCKED:
                self._give_up_dead()
            elif at == BROKEN:
                self._mend()
                continue
            if time.monotonic_ns() >= until_ns:
                return NOTHING

    def _lend(self) -> memoryview:
        at, length, _, wide, _ = self._found_words
        begin = PAGE_BYTES + at % self._map.capacity * self._map.unit + HEAD_BYTES
        if wide * 2 > self._map.capacity:
            self._give_up_dead()
        self._lent, self._lent_at = memoryview(self._map.bytes)[begin : begin + length], at
        return self._lent

    def _give_back(self) -> None:
        """Releases the view that `look` returned: reading it raises, instead of showing others."""
        if self._lent is not None:
            self._lent.release()
            self._lent = None
        if self._lent_at != NOT_LENT:
            self._done_code(self._me, self._lent_at)
            self._lent_at = NOT_LENT

    def _take(self) -> Message:
        at, length, target, wide, _ = self._found_words
        begin = PAGE_BYTES + at % self._map.capacity * self._map.unit + HEAD_BYTES
        body = self._map.bytes[begin : begin + length]
        if wide * 2 > self._map.capacity:
            self._give_up_dead()
        self._done_code(self._me, at)
        return Message(target, body)

    def _begin_to_consume(self) -> None:
        if self._mark != processes.own_mark():
            self._forked()
        word = ctypes.c_int64.from_address(self._map.base + CONSUMER)
        other = word.value
        if other not in (0, self._mark) and processes.lives(other):
            raise Taken(f"process {processes.pid_of(other)} consumes {self.path}")
        word.value = self._mark
        self._code["resume"](self._me)
        self._consumes = True

    def take_turn(self) -> None:
        """Makes this process the consumer in place of another live one. Only for consumers that
        exclude each other by a lock from here to the end of the next `receive`."""
        if self._mark != processes.own_mark():
            self._forked()
        ctypes.c_int64.from_address(self._map.base + CONSUMER).value = self._mark
        self._code["resume"](self._me)
        self._consumes = True

    def _give_up_dead(self) -> None:
        """Skips messages that are still being written but whose writers are dead."""
        now_s = time.monotonic()
        if now_s - self._looked_s < LOOK_EVERY_S:
            return
        self._looked_s = now_s
        at = self._code["unfinished"](self._me, -1, self._found)
        while at >= 0:
            claim = self._found_words[FOUND_CLAIM // 8]
            writer = claim >> WRITER_SHIFT
            if not processes.lives(writer) and self._code["give_up"](self._me, at, claim):
                pid = processes.pid_of(writer)
                _log.warning("%s: skipped a message whose writer %d died", self.path, pid)
            at = self._code["unfinished"](self._me, at, self._found)

    def _mend(self) -> None:
        at, claim = self._found_words[FOUND_AT // 8], self._found_words[FOUND_CLAIM // 8]
        size = self._code["mend"](self._me, at, claim)
        _log.warning(
            "%s: garbage at position %d (%#x), %d units given up", self.path, at, claim, size
        )

    # ---- both -----------------------------------------------------------------------------

    def depth(self) -> int:
        """Returns how many messages are ready or being written; approximate while others work."""
        return self._code["depth"](self._me)

    def close(self) -> None:
        self._give_back()
        self._map.close()

    def unlink(self) -> None:
        """Deletes the file; processes that have it mapped go on."""
        mapping.remove(self.path)

    def _forked(self) -> None:
        """Resets the writer's identity in a forked child: it must not write as its parent."""
        self._mark = processes.own_mark()
        self._my_words[3] = self._mark
        self._consumes = False
        self._lent, self._lent_at = None, NOT_LENT


def _until_ns(timeout_s: float | None) -> int:
    return FOREVER_NS if timeout_s is None else time.monotonic_ns() + int(timeout_s * 1e9)
