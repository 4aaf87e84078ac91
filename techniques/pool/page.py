"""The shared page of one pool: who its instances are, what they do, and the word that steers it.

Little-endian words of 8 bytes in a mapped file named `page`; every word has one writer (named
below) and is written by one aligned store, so a reader never sees half a value and needs no lock.
Counters only grow: a reader that looks every 50 ms takes differences, and misses nothing if it
looks late. Times are CLOCK_MONOTONIC in nanoseconds, one clock for all processes of a host.

    header, 64 words                                                         written by
       0  magic "CurtailP"                                                   supervisor
       1  version of this layout                                             supervisor
       2  state: 0 starting, 1 running, 2 ending                             supervisor
       3  supervisor: pid          4  supervisor: when started (ticks)       supervisor
       5  supervisor: last beat    6  last use by a task                     supervisor | any task
       7  operators                8  instances            9  slots          supervisor
      10  control: version << 16 | policy number                             `steer`, lever
      11  bytes of one ring       12  bound of the pool's memory             supervisor
      13  instances replaced      14  latency buckets per instance           supervisor
      15  1 + the policy that the lever found, 0 = it holds none             lever
      16… settings, in the order of `settings.SETTINGS`                      `steer`, lever
      32… 1 + each setting that the lever found, 0 = it holds none           lever
      48  timeout after which a chunk is replayed, µs; 0 = none              supervisor
      49  roster: rises with each instance that is to leave                  supervisor
    operators, 16 words each
       0  first instance           1  room for instances   2-6  name         supervisor
       7  chunks in the queue that its instances share                       supervisor
       8  instances that it is to have                                       `resize`, lever
       9  1 + the number that the lever found, 0 = it holds none             lever
      10  instances that it has: the last of word 8 that was reached         supervisor
    instances, 32 + (1 + instances) + instances + buckets/2 words each
       0  state: 0 dead, 1 starting, 2 ready               1  incarnation    supervisor | instance
       2  pid                      3  operator                               supervisor
       4  chunks in its ring       5  never came up, times in a row          supervisor
       6  last incarnation that may have died with a chunk                   supervisor
       7  the slot + 1 that it worked for, 0 = none        8  its chunk      supervisor
       9  taken                   10  executed            11  failed         instance
      12  rows in                 13  rows out                               instance
      14  busy, ns                15  busy since, 0 = idle                   instance
      16  slot + 1 of the chunk in work, 0 = none         17  that chunk     instance
      18  results in its outgoing queue                   19  control seen   instance
      20  share of traffic, in 1 %; with which dispatchers begin to weigh    lever
      21  1 + the share that the lever found, 0 = it holds none              lever
      22  sum of latencies since chunks were sent to it, ns                  instance
      23  weight, mean of all dispatchers, in 1/100 %; 0 = none weighs       supervisor
      24  signal: 1 = may send while `tau_ms` is set                         supervisor
      25  chunks taken from the shared queue                                 instance
      26  chunks not worked on because their result was there already        instance
      27  service: 0 takes chunks, 1 leaves, 2 finishes or is not there      supervisor
      28  roster seen                                                        instance
      32… chunks taken from tasks, then from instance 0, 1, …                instance
        … its own weights as a dispatcher, of all instances, in 1/100 %      instance
        … latency since the chunk was sent to it, counts of 4 bytes per      instance
          bucket; bucket of t µs: t below 64, else 64 (s + 1) + (t >> s) − 64
          with s = bits of t − 7; from an hour on, all in the last
    slots, 24 + 64 + 64 + 64 words each: the tasks that use the pool
       0  pid, 0 = free            1  when started         2  generation     task, under a lock
       3  chunks in the pool       4  bytes held           5  control seen   task
       6  sent    7  handed out again    8  results twice  9  results        task
      10  away: 1 while it waits for Spark, to give rows or to take results  task
      11  query: first half of its UUID, 0 = of none      12  second half    task
      13  signal: 1 = may send while `tau_ms` is set                         supervisor
      14  chunks in its outgoing queue                                       task
      15  latencies recorded      16  chunks replayed                        task
      17  results of the second copy that came first                         task
      18  roster seen                                                        task
      24… one bit per chunk, by its number mod 4096: its result is awaited   task
      88… the last 64 latencies from being sent to the result, µs            task
     152… its weights as a dispatcher, of all instances, in 1/100 %          task

The version of the control word rises with each change of policy, settings or shares. The lever is
`probe/pool/PoolLever.scala` in the one executor of the host that reads this page; what it found
stands here and not in that executor, so that another one can set it back.

Nobody chooses an instance without reading the control word first, and every reader notes the
version it read as *control seen*: a task with each chunk it sends, and every 20 ms while it waits
for results; an instance with each chunk it takes, and every 100 ms while it is idle. Whoever
cannot note it now has its next choice, and so the word, still before it, and counts as having
seen it: an instance that is not ready or is inside its operator (busy since), a task that has no
chunks in the pool or is away.

An operator has room for more instances than it begins with; they are numbered from its first one,
and the ones with the lowest numbers are there. One that is to leave goes in two steps. From *leaves*
on nobody chooses it any more; the roster rises, which all note like the control word, and before
they choose. When all have, nothing can be on its way to it: it *finishes* what it has and exits, no
chunk lost. Until then it may be called back, afterwards only started anew.

A task that changes its query writes 0 to word 11, then 12, then 11: who reads 11 before and after
12, and finds the same and not 0, has both halves of one. A slot that is free keeps its query until
somebody takes it, so that a task which is over before a reader looks is not missed.

What a dead writer left behind is put right by the supervisor: a dead instance's words 0 to 8, a
dead task's slot.
"""

import mmap
import os
import struct
from typing import Self
from uuid import UUID

from techniques.pool.host.identity import Process
from techniques.pool.page_words import HeaderWord, InstanceWord, OperatorWord, SlotWord
from techniques.pool.plan import MOST_INSTANCES, Plan
from techniques.pool.settings import SETTINGS, checked

MAGIC = int.from_bytes(b"CurtailP", "little")
VERSION = 4
WORD = 8
HEADER_WORDS = 64
OPERATOR_WORDS = 16
INSTANCE_WORDS = 32
MOST_SLOTS = 256
SLOT_FIXED = 24
# Chunks of one task whose numbers are further apart than this cannot be in the pool together.
AWAITED_CHUNKS = 4096
AWAITED_AT = SLOT_FIXED
RECORDED_AT, RECORDED = AWAITED_AT + AWAITED_CHUNKS // 64, 64
WEIGHTS_AT = RECORDED_AT + RECORDED
SLOT_WORDS = WEIGHTS_AT + MOST_INSTANCES
NAME_BYTES = 40

STARTING, RUNNING, ENDING = range(3)
DEAD, BEGUN, READY = range(3)
SERVES, LEAVES, FINISHES = range(3)

SUB_BITS = 6
MAX_US = 3600 * 1_000_000


def bucket_of(latency_us: int) -> int:
    """The same buckets as in frames (`formats.buckets`), so that counts are not rounded twice."""
    us = max(0, min(MAX_US, latency_us))
    if us < 1 << SUB_BITS:
        return us
    shift = us.bit_length() - 1 - SUB_BITS
    return (shift << SUB_BITS) + (us >> shift)


# Even, so that counts of 4 bytes fill whole words.
BUCKETS = (bucket_of(MAX_US) + 2) // 2 * 2


class WrongPage(Exception):
    """Not a page, or one of another version of Curtail."""


def instance_words(instances: int) -> int:
    return INSTANCE_WORDS + 1 + 2 * instances + BUCKETS // 2


class Page:
    """One mapping of the page; reading is cheap and never blocks."""

    def __init__(self, mapped: mmap.mmap) -> None:
        self._mapped = mapped
        self._bytes = memoryview(mapped)
        self.words = self._bytes.cast("Q")
        self._halves = self._bytes.cast("I")
        if self.words[HeaderWord.MAGIC] != MAGIC or self.words[HeaderWord.VERSION] != VERSION:
            self.close()
            raise WrongPage("the pool's page is not of this version of Curtail")
        self.operators = self.words[HeaderWord.OPERATORS]
        self.instances = self.words[HeaderWord.INSTANCES]
        self.slots = self.words[HeaderWord.SLOTS]
        self._instance_words = instance_words(self.instances)
        self._instances_at = HEADER_WORDS + self.operators * OPERATOR_WORDS
        self._slots_at = self._instances_at + self.instances * self._instance_words

    @classmethod
    def create(cls, path: str, plan: Plan, ring_bytes: int) -> Self:
        """Creates the file; it gets its name only when it is complete."""
        operators, instances = len(plan.stages), plan.room
        words = HEADER_WORDS + operators * OPERATOR_WORDS + MOST_SLOTS * SLOT_WORDS
        words += instances * instance_words(instances)
        made = bytearray(words * WORD)
        head = (MAGIC, VERSION, STARTING, 0, 0, 0, 0, operators, instances, MOST_SLOTS)
        struct.pack_into(f"<{len(head)}Q", made, 0, *head)
        struct.pack_into("<5Q", made, 10 * WORD, 0, ring_bytes, plan.memory_bytes, 0, BUCKETS)
        defaults = [setting.default for setting in SETTINGS]
        struct.pack_into(f"<{len(defaults)}Q", made, HeaderWord.SETTINGS * WORD, *defaults)
        for at, stage in enumerate(plan.stages):
            place = (HEADER_WORDS + at * OPERATOR_WORDS) * WORD
            struct.pack_into("<2Q", made, place, plan.first_of(at), stage.most)
            wanted = place + OperatorWord.WANTED * WORD
            struct.pack_into("<3Q", made, wanted, stage.instances, 0, stage.instances)
            name = stage.name.encode()[:NAME_BYTES]
            made[place + 2 * WORD : place + 2 * WORD + len(name)] = name
        with open(f"{path}.new", "wb") as file:
            file.write(made)
        os.rename(f"{path}.new", path)
        return cls.attach(path)

    @classmethod
    def attach(cls, path: str) -> Self:
        with open(path, "r+b") as file:
            if os.fstat(file.fileno()).st_size < HEADER_WORDS * WORD:
                raise WrongPage(f"{path} is cut short")
            return cls(mmap.mmap(file.fileno(), 0))

    def close(self) -> None:
        self._halves.release()
        self.words.release()
        self._bytes.release()
        self._mapped.close()

    def instance(self, number: int, word: int = 0) -> int:
        """Returns the index of a word of an instance."""
        return self._instances_at + number * self._instance_words + word

    def slot(self, number: int, word: int = 0) -> int:
        return self._slots_at + number * SLOT_WORDS + word

    def pair(self, source: int, instance: int) -> int:
        """Returns the index of the count of chunks that `instance` took from `source` (0 = tasks,
        otherwise 1 + the number of the sending instance)."""
        return self.instance(instance, INSTANCE_WORDS + source)

    def of_operator(self, position: int, word: int) -> int:
        """Returns the index of a word of the operator at this position of the chain."""
        return HEADER_WORDS + position * OPERATOR_WORDS + word

    def operator(self, position: int) -> range:
        """Returns the operator's instances, also those that are not there but have room."""
        at = self.of_operator(position, OperatorWord.FIRST)
        first, room = self.words[at], self.words[at + OperatorWord.ROOM]
        return range(first, first + room)

    def operator_name(self, position: int) -> str:
        at = self.of_operator(position, OperatorWord.NAME) * WORD
        return bytes(self._bytes[at : at + NAME_BYTES]).rstrip(b"\0").decode(errors="replace")

    def ready(self, position: int) -> list[int]:
        """Returns the instances that may be chosen."""
        words, of = self.words, self.instance
        return [
            one
            for one in self.operator(position)
            if words[of(one)] == READY and words[of(one, InstanceWord.SERVICE)] == SERVES
        ]

    @property
    def roster(self) -> int:
        return self.words[HeaderWord.ROSTER]

    @property
    def serving(self) -> int:
        """The number of instances that the pool has, of all operators."""
        return sum(
            self.words[self.of_operator(each, OperatorWord.REACHED)]
            for each in range(self.operators)
        )

    def resize(self, position: int, instances: int) -> None:
        """Asks for so many instances of an operator; the supervisor starts and retires them."""
        room = len(self.operator(position))
        if not 1 <= instances <= room:
            name = self.operator_name(position)
            raise ValueError(f"{name} may have 1 to {room} instances, not {instances}")
        self.words[self.of_operator(position, OperatorWord.WANTED)] = instances

    def incarnation(self, instance: int) -> int:
        return self.words[self.instance(instance, InstanceWord.INCARNATION)]

    @property
    def supervisor(self) -> Process:
        return Process(self.words[HeaderWord.SUPERVISOR], self.words[HeaderWord.STARTED])

    @property
    def control(self) -> tuple[int, int]:
        """Returns the control word's version and the number of the policy in force."""
        word = self.words[HeaderWord.CONTROL]
        return word >> 16, word & 0xFFFF

    def setting(self, place: int) -> int:
        """Returns a setting by its place in `SETTINGS`."""
        return self.words[HeaderWord.SETTINGS + place]

    def steer(self, policy: int, **settings: int) -> int:
        """Puts a policy and settings in force; returns the new version, for `seen_by_all`."""
        places = {checked(name, value): value for name, value in settings.items()}
        for place, value in places.items():
            self.words[HeaderWord.SETTINGS + place] = value
        version = self.control[0] + 1
        self.words[HeaderWord.CONTROL] = version << 16 | policy
        return version

    def await_result(self, slot: int, chunk: int, awaited: bool) -> None:
        """Records whether a task still waits for a chunk's result; called by that task alone."""
        word, bit = divmod(chunk % AWAITED_CHUNKS, 64)
        at = self.slot(slot, AWAITED_AT + word)
        if awaited:
            self.words[at] |= 1 << bit
        else:
            self.words[at] &= ~(1 << bit) & (1 << 64) - 1

    def is_awaited(self, slot: int, generation: int, chunk: int) -> bool:
        """Whether that task waits for the chunk: it may have ended, or have its result already."""
        at = self.slot(slot)
        word, bit = divmod(chunk % AWAITED_CHUNKS, 64)
        return (
            self.words[at + SlotWord.PID] != 0
            and self.words[at + SlotWord.GENERATION] == generation
            and bool(self.words[at + AWAITED_AT + word] >> bit & 1)
        )

    def record(self, slot: int, latency_us: int) -> None:
        """Adds a chunk's latency from being sent to its result; called by the slot's task alone."""
        at = self.slot(slot)
        count = self.words[at + SlotWord.RECORDED]
        self.words[at + RECORDED_AT + count % RECORDED] = latency_us
        self.words[at + SlotWord.RECORDED] = count + 1

    def recorded(self, slot: int, since: int) -> tuple[int, list[int]]:
        """Returns the count of latencies so far, and those after `since` that are still there."""
        at = self.slot(slot)
        count = self.words[at + SlotWord.RECORDED]
        first = max(since, count - RECORDED) if since <= count else max(0, count - RECORDED)
        ring = at + RECORDED_AT
        return count, [self.words[ring + each % RECORDED] for each in range(first, count)]

    def weights_of_slot(self, slot: int) -> int:
        """Returns the index of the weights that this task gives to instance 0, 1, …"""
        return self.slot(slot, WEIGHTS_AT)

    def weights_of_instance(self, instance: int) -> int:
        return self.instance(instance, INSTANCE_WORDS + 1 + self.instances)

    def shared_queued(self, position: int) -> int:
        return self.of_operator(position, OperatorWord.SHARED_QUEUED)

    def holders(self) -> list[int]:
        """Returns the slots that are in use."""
        return [slot for slot in range(self.slots) if self.words[self.slot(slot)]]

    def holder(self, slot: int) -> Process:
        at = self.slot(slot)
        return Process(self.words[at + SlotWord.PID], self.words[at + SlotWord.STARTED])

    def seen_by_all(self, version: int) -> bool:
        """Whether no task or instance chooses by an older control word (see the layout above)."""
        return self._noted(version, InstanceWord.CONTROL_SEEN, SlotWord.CONTROL_SEEN)

    def roster_seen_by_all(self, roster: int) -> bool:
        """Whether nobody can still choose an instance that left before this roster."""
        return self._noted(roster, InstanceWord.ROSTER_SEEN, SlotWord.ROSTER_SEEN)

    def _noted(self, least: int, by_instance: int, by_task: int) -> bool:
        """Whether everyone who does not have its next choice still before it has noted `least`."""
        words = self.words
        return all(
            words[at + InstanceWord.STATE] != READY
            or words[at + InstanceWord.BUSY_SINCE] != 0
            or words[at + by_instance] >= least
            for at in map(self.instance, range(self.instances))
        ) and all(
            words[at + SlotWord.CHUNKS] == 0
            or words[at + SlotWord.AWAY] != 0
            or words[at + by_task] >= least
            for at in map(self.slot, self.holders())
        )

    def use_for(self, slot: int, query: UUID | None) -> None:
        """Records the streaming query (or None) that the task in this slot works for."""
        words, at = self.words, self.slot(slot)
        first, second = divmod(query.int, 1 << 64) if query else (0, 0)
        if (words[at + SlotWord.QUERY], words[at + SlotWord.QUERY_REST]) != (first, second):
            words[at + SlotWord.QUERY] = 0
            words[at + SlotWord.QUERY_REST] = second
            words[at + SlotWord.QUERY] = first

    def held_bytes(self) -> int:
        return sum(self.words[self.slot(slot, SlotWord.BYTES)] for slot in self.holders())

    def count_latency(self, instance: int, latency_us: int) -> None:
        self._halves[self._latencies_at(instance) + bucket_of(latency_us)] += 1

    def latencies(self, instance: int) -> dict[int, int]:
        at = self._latencies_at(instance)
        counts = self._halves[at : at + BUCKETS].tolist()
        return {bucket: count for bucket, count in enumerate(counts) if count}

    def _latencies_at(self, instance: int) -> int:
        return 2 * self.instance(instance, INSTANCE_WORDS + 1 + 2 * self.instances)
