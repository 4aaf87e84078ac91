"""What this worker knows of its jobs' last two minutes: read once, for all who look at it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from collectors.formats import keys, wire
from collectors.formats.asked import Asked
from collectors.formats.keys import Stream
from collectors.formats.wire import WINDOW_MS
from dashboard.series import activities, windows
from dashboard.series.history import NEEDS, History
from dashboard.store import Entry, Store
from dashboard.worker import loop
from techniques.view import View

LOOKS_BACK_MS = 120_000
# XREAD that waits for nothing: what is there is there.
AT_ONCE_MS = 1
WITH_ASKED = replace(NEEDS, sections=NEEDS.sections | {wire.ASKED})


@dataclass(frozen=True)
class Newest:
    """Of a job's newest frame."""

    window_start_ms: int
    run_id: str
    asked: Asked | None


class Histories:
    def __init__(self) -> None:
        self._held: dict[str, History] = {}
        self._newest: dict[str, Newest] = {}
        self._after_ms: dict[Stream, int] = {}
        self._failures: dict[str, str] = {}

    def read(self, store: Store, job_ids: Sequence[str], now_ms: int) -> None:
        """What came since they were read last, of these jobs."""
        after_ms = {
            stream: self._after_ms.get(stream, now_ms - LOOKS_BACK_MS)
            for job_id in job_ids
            for stream in (keys.frames(job_id), keys.activities(job_id))
        }
        news = loop.run(store.follow(after_ms, AT_ONCE_MS)) if after_ms else {}
        for stream, entries in news.items():
            self._after_ms[stream] = entries[-1].at_ms
        for job_id in {stream.job_id for stream in news}:
            try:
                self._add(
                    job_id,
                    news.get(keys.frames(job_id), ()),
                    news.get(keys.activities(job_id), ()),
                )
                self._failures.pop(job_id, None)
            except Exception as error:
                self._held.pop(job_id, None)
                self._failures[job_id] = f"{type(error).__name__}: {error}"

    def view(self, job_id: str) -> View | None:
        held = self._held.get(job_id)
        return held.view() if held else None

    def newest(self, job_id: str) -> Newest | None:
        return self._newest.get(job_id)

    def failure(self, job_id: str) -> str:
        """Why its history could not be read, "" where it could."""
        return self._failures.get(job_id, "")

    def _add(self, job_id: str, frames: Sequence[Entry], ended: Sequence[Entry]) -> None:
        read, _ = windows.read(frames, WITH_ASKED)
        if read:
            last = read[-1]
            self._newest[job_id] = Newest(last.start_ms, str(last.run_id), last.asked)
        if job_id not in self._held:
            self._held[job_id] = History(LOOKS_BACK_MS // WINDOW_MS)
        self._held[job_id].add(read, activities.read(ended)[0])


@cache
def the_histories() -> Histories:
    """Of this process."""
    return Histories()
