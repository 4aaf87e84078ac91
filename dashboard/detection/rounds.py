"""What the worker does every second: one read for all jobs, a look at each, rows where it changed.

What is kept of jobs between rounds lives in this process; one that starts anew reads two minutes
back and knows the open incidents from the database.
"""

import logging

from django.db import transaction

from collectors import keys
from collectors.keys import Stream
from dashboard import activities, windows
from dashboard.detection import records
from dashboard.detection.watch import LOOKS_BACK_MS, Watch
from dashboard.store import Entry, Store
from techniques.incidents import Changes

log = logging.getLogger(__name__)

# XREAD that waits for nothing: what is there is there.
AT_ONCE_MS = 1


class Detection:
    def __init__(self) -> None:
        self._watches: dict[str, Watch] = {}
        self._after_ms: dict[Stream, int] = {}

    async def read(
        self, store: Store, job_ids: list[str], now_ms: int
    ) -> dict[Stream, list[Entry]]:
        """What came since the last round, of the jobs that run."""
        streams = [
            stream
            for job_id in job_ids
            for stream in (keys.frames(job_id), keys.activities(job_id))
        ]
        self._forget(set(job_ids), set(streams))
        after = {stream: self._after_ms.get(stream, now_ms - LOOKS_BACK_MS) for stream in streams}
        news = await store.follow(after, AT_ONCE_MS)
        return {stream: list(entries) for stream, entries in news.items()}

    def look(self, news: dict[Stream, list[Entry]]) -> None:
        for stream, entries in news.items():
            self._after_ms[stream] = entries[-1].at_ms
        for job_id in {stream.job_id for stream in news}:
            try:
                self._look_at(job_id, news)
            except Exception:
                # One job that cannot be read must not hide all the others.
                log.exception("the detection of %s stumbled", job_id)

    def _look_at(self, job_id: str, news: dict[Stream, list[Entry]]) -> None:
        watch = self._watches.get(job_id)
        if watch is None:
            watch = self._watches[job_id] = Watch(records.known(job_id))
        frames, _ = windows.read(news.get(keys.frames(job_id), ()))
        ended, _ = activities.read(news.get(keys.activities(job_id), ()))
        changes = watch.add(frames, ended)
        if changes != Changes():
            _write(job_id, changes)

    def _forget(self, job_ids: set[str], streams: set[Stream]) -> None:
        self._watches = {k: watch for k, watch in self._watches.items() if k in job_ids}
        self._after_ms = {k: ms for k, ms in self._after_ms.items() if k in streams}


@transaction.atomic
def _write(job_id: str, changes: Changes) -> None:
    for incident in changes.opened:
        records.opened(job_id, incident)
    for incident in changes.continued:
        records.continued(job_id, incident)
    for incident in changes.ended:
        records.ended(job_id, incident)
