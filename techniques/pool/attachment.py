"""One task's attachment to a running pool: a slot of the page, and the ring for its results.

A Python worker of Spark outlives a task; its attachment is reused by its next task.
"""

import os
import time
from collections import defaultdict
from contextlib import suppress
from pathlib import Path

from techniques.pool.dispatcher import Dispatcher
from techniques.pool.host.identity import Process
from techniques.pool.host.launch import PoolUnavailable, joined
from techniques.pool.host.meeting_place import Meeting, result_path
from techniques.pool.messages import spill_prefix
from techniques.pool.osrbuffer.ring import Ring
from techniques.pool.page import ENDING, SLOT_WORDS
from techniques.pool.page_words import HeaderWord, SlotWord
from techniques.pool.plan import Plan
from techniques.pool.replays import Budget


class Attachment:
    def __init__(self, application: str, plan: Plan, message_bytes: int) -> None:
        self.where, self.page = joined(application, plan, message_bytes)
        self.slot, self.generation = self._take_slot(
            Meeting.of(application, plan.name, plan.digest)
        )
        self.at = self.page.slot(self.slot)
        try:
            self.ring = Ring.create(
                result_path(self.where, self.slot, self.generation),
                self.page.words[HeaderWord.RING_BYTES],
            )
        except OSError:
            self.page.words[self.at + SlotWord.PID] = 0
            self.page.close()
            raise
        # The number of the last chunk sent. It is not reset between tasks, so that a late result
        # for an earlier task matches no chunk.
        self.chunk = 0
        self.dispatcher = Dispatcher(self.page, self.where, 0, self.page.weights_of_slot(self.slot))
        # Kept here, because tasks are short: what one may replay, others have saved before.
        self.budget = Budget()

    def works(self) -> bool:
        return self.page.words[HeaderWord.STATE] != ENDING and self.page.supervisor.lives()

    def used(self) -> None:
        self.page.words[HeaderWord.LAST_USE] = time.monotonic_ns()

    def close(self) -> None:
        """Frees the slot; instances that work on its chunks then drop the results."""
        words = self.page.words
        words[self.at + SlotWord.CHUNKS] = words[self.at + SlotWord.BYTES] = 0
        words[self.at + SlotWord.PID] = 0
        self.dispatcher.close()
        self.ring.close()
        with suppress(OSError):
            self.ring.unlink()
        with suppress(OSError):
            for left in Path(self.where).glob(f"{spill_prefix(self.slot, self.generation)}*"):
                left.unlink(missing_ok=True)
        self.page.close()

    def _take_slot(self, meeting: Meeting) -> tuple[int, int]:
        words = self.page.words
        own = Process.this()
        with meeting.locked():
            for slot in range(self.page.slots):
                at = self.page.slot(slot)
                if words[at + SlotWord.PID] == 0:
                    for word in range(SlotWord.CHUNKS, SLOT_WORDS):
                        words[at + word] = 0
                    words[at + SlotWord.GENERATION] += 1
                    words[at + SlotWord.STARTED], words[at + SlotWord.PID] = own.started, own.pid
                    return slot, words[at + SlotWord.GENERATION]
        raise PoolUnavailable(f"all {self.page.slots} slots of the pool are taken")


_lent: dict[tuple[int, str, str], list[Attachment]] = defaultdict(list)


def borrowed(application: str, plan: Plan, message_bytes: int) -> Attachment:
    kept = _lent[os.getpid(), application, plan.name + plan.digest]
    while kept:
        attachment = kept.pop()
        if attachment.works():
            return attachment
        attachment.close()
    return Attachment(application, plan, message_bytes)


def returned(application: str, plan: Plan, attachment: Attachment) -> None:
    if attachment.works():
        words = attachment.page.words
        words[attachment.at + SlotWord.CHUNKS] = words[attachment.at + SlotWord.BYTES] = 0
        _lent[os.getpid(), application, plan.name + plan.digest].append(attachment)
    else:
        attachment.close()


def forgotten() -> None:
    """Closes the attachments kept for later tasks, for programs that go on without the pool."""
    for kept in _lent.values():
        while kept:
            kept.pop().close()
