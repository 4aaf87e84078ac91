"""The owner of chunks: hands them to instances, keeps each one until its result is back.

A chunk whose result is late may be sent a second time, to another instance (`replays`): the first
result counts, and nothing is sent again after it.

No chunk is lost when a process dies: the chunks of a dead instance are handed out again, and those
of a pool whose supervisor died go to the next pool. No result is emitted twice either: a result
whose chunk is no longer waited for is dropped.

It never waits for room in an instance's ring without taking results meanwhile. Together with the
rule in `techniques.pool.instance`, this makes deadlock impossible.
"""

import os
import time
from dataclasses import dataclass, field
from uuid import UUID

from techniques.pool import chunks, deaths, replays
from techniques.pool.attachment import Attachment, borrowed, returned
from techniques.pool.chunks import CHUNK, ERROR, RESULT, Garbled, Head
from techniques.pool.kept import Chunk, Done, Kept
from techniques.pool.messages import Parcel, opened
from techniques.pool.page import AWAITED_CHUNKS
from techniques.pool.page_words import SlotWord
from techniques.pool.plan import CHUNKS_PER_INSTANCE, Plan
from techniques.pool.signals import may_send

# How long to wait for a result before checking on instances and the control word.
LOOK_S = 0.02
RETRY_S = 0.002
SOON_S = 0.0005
# How often to check that the supervisor lives, which costs a read from /proc.
LOOK_UP_S = 0.1


class OperatorFailed(Exception):
    """The user's function raised; its traceback is the message."""


@dataclass
class Owner:
    """Used by one thread of one process."""

    application: str
    plan: Plan
    query: UUID | None = None
    _hold: Attachment | None = None
    _kept: dict[int, Kept] = field(default_factory=dict)
    # Numbers of the chunks to send, for the first time or again.
    _again: list[int] = field(default_factory=list)
    _done: list[Done] = field(default_factory=list)
    _deaths: list[int] = field(default_factory=list)
    _looked_s: float = 0.0
    _looked_up_s: float = 0.0
    _held_bytes: int = 0
    _window: int = 1
    _share_bytes: int = 0
    # The highest ratio of result bytes to chunk bytes so far.
    _growth: float = 1.0

    @property
    def outstanding(self) -> int:
        """The number of this task's chunks in the pool."""
        return len(self._kept)

    def has_room(self, chunk: Chunk, besides: int = 0) -> bool:
        """Whether the chunk may be handed out now; one always may, or nothing would ever move.

        `besides`: results that the caller holds back, which count like chunks in the pool.
        """
        if not self._kept and not besides:
            return True
        return (
            len(self._kept) + besides < self._window
            and self._held_bytes + self._held_for(chunk) <= self._share_bytes
            and self._last - next(iter(self._kept), self._last) < AWAITED_CHUNKS - 1
        )

    def hand_out(self, chunk: Chunk) -> int:
        """Returns the chunk's number; they grow by one. If there is no room, `collect` sends it."""
        if self._hold is None:
            self._enter(chunk.size)
        assert self._hold is not None
        self._away(False)
        self._hold.chunk += 1
        number = self._hold.chunk
        held_bytes = self._held_for(chunk)
        self._kept[number] = Kept(chunk, held_bytes)
        self._hold.page.await_result(self._hold.slot, number, True)
        self._count(held_bytes)
        self._again.append(number)
        self._send()
        self._away(True)
        return number

    def collect(self, timeout_s: float) -> list[Done]:
        """Returns results, waiting up to the timeout for the first; resends chunks where needed."""
        if self._hold is None:
            return []
        self._away(False)
        wait_s = min(timeout_s, self._wait_s())
        while (message := self._hold.ring.receive(wait_s)) is not None:
            self._take(message.body)
            wait_s = 0
        now_s = time.monotonic()
        if now_s - self._looked_s >= LOOK_S:
            self._looked_s = now_s
            self._look(now_s)
        if self._again:
            self._send()
        self._replay()
        self._away(True)
        done, self._done = self._done, []
        return done

    def emitted(self, done: Done) -> None:
        """Gives back the memory counted for this result, which the caller emits."""
        self._count(-done.held_bytes)

    def leave(self) -> None:
        """Keeps the attachment for the next task; closes it if a cancelled task left chunks."""
        hold, self._hold = self._hold, None
        if hold is None:
            return
        if self._kept:
            hold.close()
        else:
            returned(self.application, self.plan, hold)

    @property
    def _last(self) -> int:
        """The number of the last chunk handed out."""
        return self._hold.chunk if self._hold else 0

    def _held_for(self, chunk: Chunk) -> int:
        # Chunk and expected result, twice each: one copy kept here, one on its way.
        return 2 * (chunk.size + int(chunk.size * self._growth))

    def _take(self, body: bytes) -> None:
        assert self._hold is not None
        words, at = self._hold.page.words, self._hold.at
        try:
            head, rest = opened(self._hold.where, body)
            kept = self._kept.get(head.chunk)
            if kept is None or head.generation != self._hold.generation:
                words[at + SlotWord.TWICE] += 1
                return
            if head.kind == ERROR:
                raise OperatorFailed(bytes(rest).decode(errors="replace"))
            if head.kind != RESULT:
                raise Garbled(f"a head that makes no sense: {head}")
            result = chunks.read(head.schema_bytes, rest)
        except Garbled:
            # If it was one of our results, its chunk is still kept: send all kept chunks again.
            self._again.extend(one for one in self._kept if one not in self._again)
            return
        del self._kept[head.chunk]
        if head.chunk in self._again:
            self._again.remove(head.chunk)
        self._hold.page.await_result(self._hold.slot, head.chunk, False)
        self._hold.page.record(self._hold.slot, (time.monotonic_ns() - kept.sent_ns) // 1000)
        words[at + SlotWord.RESULTS] += 1
        words[at + SlotWord.WON] += head.copy
        self._growth = max(self._growth, len(rest) / max(1, kept.chunk.size))
        self._done.append(Done(head.chunk, result, kept.held_bytes))
        self._count(0)

    def _send(self) -> None:
        assert self._hold is not None
        hold = self._hold
        words, at = hold.page.words, hold.at
        self._obey()
        while self._again and may_send(hold.page, at + SlotWord.SIGNAL):
            number = self._again[0]
            kept = self._kept[number]
            parcel = self._parcel(number, kept)
            given = hold.dispatcher.give(parcel)
            if given is None:
                parcel.drop()
                break
            if kept.given is None:
                kept.sent_ns = parcel.head.sent_ns
                hold.budget.sent(replays.share(hold.page))
            words[at + (SlotWord.AGAIN if kept.given else SlotWord.SENT)] += 1
            kept.given, kept.copy = given, None
            del self._again[0]
            if not kept.was_replayed and replays.at_once(hold.page):
                self._send_copy(number, kept)
        words[at + SlotWord.WAITING] = len(self._again)

    def _replay(self) -> None:
        """Sends a second copy of each chunk that is older than the timeout, within the budget."""
        assert self._hold is not None
        hold = self._hold
        timeout_ns = replays.timeout_ns(hold.page)
        if timeout_ns is None:
            return
        late_ns = time.monotonic_ns() - timeout_ns
        # Chunks are kept in the order in which they were sent.
        for number, kept in self._kept.items():
            if kept.given is None or kept.sent_ns > late_ns or not hold.budget.allows:
                return
            if not kept.was_replayed and self._send_copy(number, kept):
                hold.budget.spent()

    def _send_copy(self, number: int, kept: Kept) -> bool:
        assert self._hold is not None
        assert kept.given is not None
        parcel = self._parcel(number, kept, copy=1)
        kept.copy = self._hold.dispatcher.give_to_another(parcel, kept.given.instance)
        if kept.copy is None:
            parcel.drop()
            return False
        kept.was_replayed = True
        self._hold.page.words[self._hold.at + SlotWord.REPLAYED] += 1
        return True

    def _parcel(self, number: int, kept: Kept, copy: int = 0) -> Parcel:
        assert self._hold is not None
        head = Head(
            number,
            time.monotonic_ns(),
            self._hold.slot,
            self._hold.generation,
            position=0,
            source=0,
            kind=CHUNK,
            copy=copy,
            schema_bytes=kept.chunk.schema_bytes,
        )
        return Parcel(self._hold.where, head, kept.chunk.parts)

    def _wait_s(self) -> float:
        """How long to wait for a result: a chunk that found no room is tried again soon, and one
        that becomes too old is replayed when it does."""
        assert self._hold is not None
        wait_s = RETRY_S if self._again else LOOK_S
        timeout_ns = replays.timeout_ns(self._hold.page)
        if timeout_ns is None or not self._hold.budget.allows:
            return wait_s
        sent_ns = next((one.sent_ns for one in self._kept.values() if not one.was_replayed), 0)
        left_ns = sent_ns + timeout_ns - time.monotonic_ns()
        return min(wait_s, max(SOON_S, left_ns / 1e9)) if sent_ns else wait_s

    def _look(self, now_s: float) -> None:
        assert self._hold is not None
        hold = self._hold
        hold.used()
        self._obey()
        if now_s - self._looked_up_s >= LOOK_UP_S:
            self._looked_up_s = now_s
            if not hold.works():
                self._change_pool()
                return
            self._bound()
        page = hold.page
        now = deaths.last_deaths(page)
        if now != self._deaths:
            died = [one for one, death in enumerate(now) if death != self._deaths[one]]
            self._deaths = now
            deaths.blame(page, hold.slot, self._kept, died)
            lost = deaths.lost(page, self._kept, died, now)
            self._again += [one for one in lost if one not in self._again]
        if not all(page.ready(position) for position in range(page.operators)):
            deaths.nobody_comes_up(page, hold.where)

    def _enter(self, message_bytes: int) -> None:
        self._hold = borrowed(self.application, self.plan, message_bytes)
        self._hold.used()
        page = self._hold.page
        page.use_for(self._hold.slot, self.query)
        self._deaths = deaths.last_deaths(page)
        self._bound()

    def _change_pool(self) -> None:
        """Moves to the next pool after the supervisor (and so its instances) died, and resends."""
        assert self._hold is not None
        chunk = self._hold.chunk
        self._hold.close()
        self._hold = None
        largest = max((kept.chunk.size for kept in self._kept.values()), default=1)
        self._hold = Attachment(self.application, self.plan, largest)
        self._hold.chunk = chunk
        page = self._hold.page
        page.use_for(self._hold.slot, self.query)
        self._deaths = deaths.last_deaths(page)
        self._bound()
        self._again = list(self._kept)
        for number in self._kept:
            page.await_result(self._hold.slot, number, True)
        self._count(0)

    def _obey(self) -> None:
        """Records what this task knows before it chooses any instance by it."""
        assert self._hold is not None
        words, at = self._hold.page.words, self._hold.at
        words[at + SlotWord.ROSTER_SEEN] = self._hold.page.roster
        words[at + SlotWord.CONTROL_SEEN] = self._hold.dispatcher.obey()

    def _bound(self) -> None:
        """Sets this task's window and bytes: rings take half of the memory bound, busy tasks share
        the rest."""
        assert self._hold is not None
        page = self._hold.page
        self._window = self.plan.window or CHUNKS_PER_INSTANCE * page.serving
        busy = sum(1 for slot in page.holders() if page.words[page.slot(slot, SlotWord.CHUNKS)])
        self._share_bytes = self.plan.memory_bytes // 2 // max(os.cpu_count() or 1, busy)

    def _away(self, away: bool) -> None:
        """Records whether the caller has the thread. Spark may stall a task for any length of time,
        and a change of policy must not wait for such a task."""
        assert self._hold is not None
        self._hold.page.words[self._hold.at + SlotWord.AWAY] = away

    def _count(self, more_bytes: int) -> None:
        assert self._hold is not None
        self._held_bytes += more_bytes
        words, at = self._hold.page.words, self._hold.at
        words[at + SlotWord.CHUNKS] = len(self._kept)
        words[at + SlotWord.BYTES] = self._held_bytes
