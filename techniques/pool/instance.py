"""One long-lived instance of an operator: takes chunks from its ring, one after the other.

It never waits for room. A result that the next ring has no room for is *parked* in its outgoing
queue, and the instance goes on taking chunks; so is one while a sibling is to send first
(`signals`). As every consumer always consumes, a cycle of full rings cannot deadlock. The number of
parked results is bounded by the windows of the tasks.
"""

import ctypes
import os
import signal
import sys
import time
import traceback
from collections import deque
from contextlib import suppress
from typing import TextIO, cast

import numpy as np
import pyarrow as pa
from pyspark import cloudpickle

from techniques.pool import chunks
from techniques.pool.chunks import CHUNK, ERROR, RESULT, Garbled, Head
from techniques.pool.dispatcher import Dispatcher
from techniques.pool.host.logs import Prefixed, say
from techniques.pool.host.meeting_place import (
    result_path,
    ring_path,
    shared_path,
    start_failure_path,
)
from techniques.pool.messages import Parcel, opened
from techniques.pool.osrbuffer.errors import NotARing
from techniques.pool.osrbuffer.ring import Ring
from techniques.pool.page import FINISHES, READY, SERVES, Page
from techniques.pool.page_words import InstanceWord
from techniques.pool.plan import INSTANCE_VARIABLE, Operator, Plan
from techniques.pool.policies import SHARED, number_of
from techniques.pool.shared_queue import SharedQueue
from techniques.pool.signals import may_send

PR_SET_PDEATHSIG = 1
NOT_LOADED, DONE = 3, 4
PARKED_S = 0.002
# How soon an idle instance notes a new control word.
IDLE_S = 0.1
# How soon one that draws from the shared queue looks at its own, for chunks that came late.
SHARED_S = 0.02
SHARES = number_of("shared-queue")


def run(where: str, plan: Plan, page: Page, number: int) -> int:
    """Runs the process that the supervisor forked; returns its exit status."""
    _bound_to(os.getppid(), page.supervisor.pid)
    name = f"{plan.name}/{plan.instance_name(number)}"
    os.environ[INSTANCE_VARIABLE] = plan.instance_name(number)
    sys.stdout = sys.stderr = cast(TextIO, Prefixed(name))
    # A forked copy of the generator would give every instance the same "random" numbers.
    np.random.seed()
    position = page.words[page.instance(number, InstanceWord.OPERATOR)]
    try:
        operator: Operator = cloudpickle.loads(plan.stages[position].pickled)
        if callable(warm_up := getattr(operator, "warm_up", None)):
            warm_up()
    except BaseException:
        start_failure_path(where, number).write_text(traceback.format_exc())
        return NOT_LOADED
    Instance(where, plan, page, number, position, operator).serve()
    return DONE


class Instance:
    def __init__(
        self, where: str, plan: Plan, page: Page, number: int, position: int, operator: Operator
    ) -> None:
        self._where = where
        self._page = page
        self._number = number
        self._position = position
        self._operator = operator
        self._name = f"{plan.name}/{plan.instance_name(number)}"
        self._ring = Ring.attach(ring_path(where, number, page.incarnation(number)))
        last = position + 1 == len(plan.stages)
        weights_at = page.weights_of_instance(number)
        self._next = None if last else Dispatcher(page, where, position + 1, weights_at)
        self._shared = SharedQueue(shared_path(where, position))
        self._serves = True
        self._finishes = False
        self._shares = False
        self._results: dict[tuple[int, int], Ring] = {}
        self._parked: deque[Parcel] = deque()
        self._at = page.instance(number)

    def serve(self) -> None:
        """Works until it is retired; then it leaves nothing behind."""
        words, at = self._page.words, self._at
        self._obey()
        words[at + InstanceWord.STATE] = READY
        while True:
            # Looked up before the ring: nothing comes any more that this look would miss.
            finishes = self._finishes
            body = self._received(PARKED_S if self._parked else IDLE_S)
            self._obey()
            if body is not None:
                words[at + InstanceWord.TAKEN] += 1
                try:
                    self._take(body)
                except Garbled as fault:
                    # If it was a chunk, its task will miss it; nothing can be done about it here.
                    words[at + InstanceWord.FAILED] += 1
                    say(self._name, f"a message is dropped: {fault}")
            if self._parked:
                self._unpark()
            if finishes and body is None and not self._parked and not self._ring.depth():
                return

    def _received(self, timeout_s: float) -> bytes | None:
        """Returns the next message of either queue: whichever policy is in force, chunks that were
        sent under the one before are taken too, and before any new ones."""
        if self._shares:
            message = self._ring.receive(0)
            if message is not None:
                return message.body
            return self._from_shared(min(timeout_s, SHARED_S))
        if self._serves and self._shared.depth() and (body := self._from_shared(0)) is not None:
            return body
        message = self._ring.receive(timeout_s)
        return None if message is None else message.body

    def _from_shared(self, timeout_s: float) -> bytes | None:
        body = self._shared.take(timeout_s)
        if body is not None:
            self._page.words[self._at + InstanceWord.SHARED] += 1
        return body

    def _obey(self) -> None:
        """Records the control word's version, even if this is the last operator of the chain."""
        words, at = self._page.words, self._at
        words[at + InstanceWord.ROSTER_SEEN] = self._page.roster
        service = words[at + InstanceWord.SERVICE]
        self._serves, self._finishes = service == SERVES, service == FINISHES
        version, policy = self._page.control
        # One that leaves leaves the shared queue to its siblings, or it would never be done.
        self._shares = policy == SHARES and self._serves
        if self._next is not None:
            version = self._next.obey()
        words[at + InstanceWord.CONTROL_SEEN] = version

    def _take(self, body: bytes) -> None:
        head, rest = opened(self._where, body)
        words, at = self._page.words, self._at
        if head.kind != CHUNK or head.source > self._page.instances:
            raise Garbled(f"a head that makes no sense: {head}")
        words[self._page.pair(head.source, self._number)] += 1
        if not self._awaited(head):
            words[at + InstanceWord.DROPPED] += 1
            return
        batch = chunks.read(head.schema_bytes, rest)
        words[at + InstanceWord.WORKS_ON] = head.chunk
        words[at + InstanceWord.WORKS_FOR] = head.slot + 1
        began_ns = time.monotonic_ns()
        words[at + InstanceWord.BUSY_SINCE] = began_ns
        kind, schema_bytes, parts, rows = self._work(batch)
        ended_ns = time.monotonic_ns()
        words[at + InstanceWord.BUSY_SINCE] = 0
        words[at + InstanceWord.BUSY_NS] += ended_ns - began_ns
        words[at + InstanceWord.WORKS_FOR] = 0
        words[at + (InstanceWord.EXECUTED if kind != ERROR else InstanceWord.FAILED)] += 1
        words[at + InstanceWord.ROWS_IN] += batch.num_rows
        words[at + InstanceWord.ROWS_OUT] += rows
        words[at + InstanceWord.LATENCY_NS] += max(0, ended_ns - head.sent_ns)
        self._page.count_latency(self._number, (ended_ns - head.sent_ns) // 1000)
        self._send(head, kind, schema_bytes, parts, ended_ns)

    def _work(self, batch: pa.RecordBatch) -> tuple[int, int, list[chunks.Part], int]:
        try:
            made = self._operator(batch)
            if not isinstance(made, pa.RecordBatch):
                raise TypeError(
                    f"an operator returns a pyarrow.RecordBatch, not {type(made).__name__}"
                )
            schema_bytes, parts = chunks.written(made)
            return CHUNK if self._next else RESULT, schema_bytes, parts, made.num_rows
        except BaseException:
            told = f"on instance {self._name}:\n{_without_us(traceback.format_exc())}"
            return ERROR, 0, [told.encode(errors="replace")], 0

    def _send(
        self, head: Head, kind: int, schema_bytes: int, parts: list[chunks.Part], now_ns: int
    ) -> None:
        parcel = Parcel(
            self._where,
            head._replace(
                sent_ns=now_ns,
                position=self._position + 1,
                source=self._number + 1,
                kind=kind,
                spilled=0,
                schema_bytes=schema_bytes,
            ),
            parts,
        )
        # Queue behind parked results, or later results of a busy task would overtake them forever.
        if self._parked or not self._may_send() or not self._deliver(parcel):
            self._parked.append(parcel)
            self._page.words[self._at + InstanceWord.PARKED] = len(self._parked)

    def _may_send(self) -> bool:
        # One that leaves is to be done soon; nobody gives it a signal any more.
        return not self._serves or may_send(self._page, self._at + InstanceWord.SIGNAL)

    def _unpark(self) -> None:
        if not self._may_send():
            return
        for _ in range(len(self._parked)):
            parcel = self._parked.popleft()
            if not self._deliver(parcel):
                self._parked.append(parcel)
        self._page.words[self._at + InstanceWord.PARKED] = len(self._parked)

    def _deliver(self, parcel: Parcel) -> bool:
        """Returns False if it must be tried again; drops results that no task waits for."""
        if not self._awaited(parcel.head):
            parcel.drop()
            return True
        if parcel.head.kind == CHUNK and self._next is not None:
            given = self._next.give(parcel)
            # If the instance was replaced meanwhile, it will not take the chunk. If it is replaced
            # later, the owning task notices, because it had sent the chunk before, and resends it.
            return given is not None and (
                given.instance == SHARED
                or self._page.incarnation(given.instance) == given.incarnation
            )
        ring = self._result_ring(parcel.head)
        if ring is None:
            parcel.drop()
            return True
        return parcel.offer(ring)

    def _awaited(self, head: Head) -> bool:
        """Whether the owning task still waits: it may have ended, died or given up its slot, or
        have the result of another copy."""
        if head.slot >= self._page.slots:
            raise Garbled(f"no slot {head.slot}")
        return self._page.is_awaited(head.slot, head.generation, head.chunk)

    def _result_ring(self, head: Head) -> Ring | None:
        key = (head.slot, head.generation)
        if key not in self._results:
            # Results of earlier tasks in this slot are no longer awaited.
            for old in [one for one in self._results if one[0] == head.slot]:
                self._results.pop(old).close()
            with suppress(FileNotFoundError, NotARing):
                self._results[key] = Ring.attach(result_path(self._where, *key))
        return self._results.get(key)


def _bound_to(parent: int, supervisor: int) -> None:
    """Makes the kernel end this process when its supervisor ends: nothing else would."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if parent != supervisor:
        os._exit(0)


def _without_us(told: str) -> str:
    """Removes our own frames from the head of the user's traceback."""
    lines = told.splitlines(keepends=True)
    ours = [at for at, line in enumerate(lines) if line.startswith(f'  File "{__file__}"')]
    if not ours or not lines[0].startswith("Traceback"):
        return told
    end = ours[-1] + 1
    while end < len(lines) and lines[end].startswith("    "):
        end += 1
    return "".join((lines[0], *lines[end:])) if lines[end:] else told
