"""A store in this process's memory, for tests of code that uses a store."""

import asyncio
import time
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence

from collectors.formats.announcement import Announcement
from collectors.formats.keys import Stream
from dashboard.store.counters import Counters
from dashboard.store.memory_leases import MemoryLeases
from dashboard.store.protocol import Entry


class MemoryStore:
    def __init__(self, _url: str = "") -> None:
        self._streams: dict[Stream, list[Entry]] = {}
        self._announcements: dict[str, Announcement] = {}
        self._news = asyncio.Event()
        self.controls: dict[str, bytes] = {}
        self._counters = Counters()
        self._beaten_until_s = 0.0
        self._leases = MemoryLeases()
        self._leased: dict[str, tuple[str, float]] = {}
        self._looked: dict[str, int] = {}
        self._failures: dict[str, str] = {}
        self._cards: dict[str, tuple[bytes, float]] = {}
        self._wanted_until_s: dict[str, float] = {}

    def announce(self, announcement: Announcement) -> None:
        self._announcements[announcement.job_id] = announcement

    def append(self, stream: Stream, at_ms: int, payload: bytes) -> None:
        self._streams.setdefault(stream, []).append(Entry(at_ms, payload))
        self._news.set()

    async def announcements(self) -> Sequence[Announcement]:
        return list(self._announcements.values())

    async def running(self, since_ms: int) -> Sequence[str]:
        announced = self._announcements.values()
        return [a.job_id for a in announced if a.heartbeat_ms >= since_ms and not a.ended_ms]

    async def entries(self, stream: Stream, start_ms: int, end_ms: int) -> Sequence[Entry]:
        held = self._streams.get(stream, [])
        times = [entry.at_ms for entry in held]
        return held[bisect_left(times, start_ms) : bisect_left(times, end_ms)]

    async def newest_ms(self, stream: Stream) -> int:
        held = self._streams.get(stream)
        return held[-1].at_ms if held else -1

    async def newest(self, streams: Sequence[Stream]) -> Mapping[Stream, Entry]:
        return {stream: held[-1] for stream in streams if (held := self._streams.get(stream))}

    async def at(self, times_ms: Mapping[Stream, int]) -> Mapping[Stream, Entry]:
        return {
            stream: entry
            for stream, at_ms in times_ms.items()
            for entry in self._streams.get(stream, ())
            if entry.at_ms == at_ms
        }

    async def follow(
        self, after_ms: Mapping[Stream, int], wait_ms: int
    ) -> Mapping[Stream, Sequence[Entry]]:
        try:
            async with asyncio.timeout(wait_ms / 1000):
                while not (found := self._after(after_ms)):
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            return {}
        return found

    async def put_control(self, job_id: str, document: bytes) -> None:
        self.controls[job_id] = document

    async def put_cards(self, job_id: str, computed: bytes, lasting_s: int) -> None:
        self._cards[job_id] = computed, time.monotonic() + lasting_s

    async def cards(self, job_id: str) -> bytes | None:
        computed, until_s = self._cards.get(job_id, (None, 0.0))
        return computed if time.monotonic() < until_s else None

    async def want_cards(self, job_id: str, lasting_s: int) -> None:
        self._wanted_until_s[job_id] = time.monotonic() + lasting_s

    async def wanted_cards(self) -> Sequence[str]:
        now_s = time.monotonic()
        return [job_id for job_id, until_s in self._wanted_until_s.items() if now_s < until_s]

    async def count(self, names: Sequence[str], by: int, lasting_s: int) -> Sequence[int]:
        return self._counters.add(names, by)

    async def beat(self, lasting_s: int) -> None:
        self._beaten_until_s = time.monotonic() + lasting_s

    async def beaten(self) -> bool:
        return time.monotonic() < self._beaten_until_s

    async def hold(self, owner: str, shards: int, lasting_ms: int) -> Mapping[int, int]:
        return self._leases.hold(owner, shards, lasting_ms)

    async def let_go(self, owner: str) -> None:
        self._leases.let_go(owner)

    async def lease(self, name: str, owner: str, lasting_ms: int) -> bool:
        holder, until_s = self._leased.get(name, (owner, 0.0))
        if holder != owner and time.monotonic() < until_s:
            return False
        self._leased[name] = owner, time.monotonic() + lasting_ms / 1000
        return True

    async def tell_looked(self, windows_ms: Mapping[str, int], failures: Mapping[str, str]) -> None:
        self._looked |= windows_ms
        self._failures = {job: why for job, why in {**self._failures, **failures}.items() if why}

    async def looked(self) -> Mapping[str, int]:
        return dict(self._looked)

    async def failing(self) -> Mapping[str, str]:
        return dict(self._failures)

    async def close(self) -> None:
        pass

    def _after(self, after_ms: Mapping[Stream, int]) -> dict[Stream, Sequence[Entry]]:
        found: dict[Stream, Sequence[Entry]] = {}
        for stream, after in after_ms.items():
            held = self._streams.get(stream, [])
            if news := held[bisect_right([entry.at_ms for entry in held], after) :]:
                found[stream] = news
        return found
