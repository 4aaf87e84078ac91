"""Frames in this process's memory, for tests of what stands on a store."""

import asyncio
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence

from collectors.announcement import Announcement
from dashboard.store.protocol import StoredFrame


class MemoryFrameStore:
    def __init__(self, _url: str = "") -> None:
        self._frames: dict[str, list[StoredFrame]] = {}
        self._announcements: dict[str, Announcement] = {}
        self._news = asyncio.Event()

    def announce(self, announcement: Announcement) -> None:
        self._announcements[announcement.job_id] = announcement

    def append(self, job_id: str, start_ms: int, payload: bytes) -> None:
        self._frames.setdefault(job_id, []).append(StoredFrame(start_ms, payload))
        self._news.set()

    async def announcements(self) -> Sequence[Announcement]:
        return list(self._announcements.values())

    async def frames(self, job_id: str, start_ms: int, end_ms: int) -> Sequence[StoredFrame]:
        held = self._frames.get(job_id, [])
        starts = [frame.start_ms for frame in held]
        return held[bisect_left(starts, start_ms) : bisect_left(starts, end_ms)]

    async def newest_ms(self, job_id: str) -> int:
        held = self._frames.get(job_id)
        return held[-1].start_ms if held else -1

    async def follow(
        self, after_ms: Mapping[str, int], wait_ms: int
    ) -> Mapping[str, Sequence[StoredFrame]]:
        try:
            async with asyncio.timeout(wait_ms / 1000):
                while not (found := self._after(after_ms)):
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            return {}
        return found

    async def close(self) -> None:
        pass

    def _after(self, after_ms: Mapping[str, int]) -> dict[str, Sequence[StoredFrame]]:
        found: dict[str, Sequence[StoredFrame]] = {}
        for job_id, after in after_ms.items():
            held = self._frames.get(job_id, [])
            if news := held[bisect_right([frame.start_ms for frame in held], after) :]:
                found[job_id] = news
        return found
