"""The histories of this worker's jobs: updated once a round, read by detection, controllers and
cards.

An error in one job's data affects only that job. Entries that cannot be read, or whose window does
not match their id, are left out and counted. After any other error the job's history is dropped and
starts again with the next entries, and the round continues. `failure` reports both.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from django.db import DatabaseError

from collectors.formats import keys, wire
from collectors.formats.asked import Asked
from collectors.formats.codec import Garbled
from collectors.formats.keys import Stream
from collectors.formats.wire import WINDOW_MS
from dashboard.series import activities, windows
from dashboard.series.history import LOOKS_BACK_MS, History, only
from dashboard.series.latency_bins import LatencyBins
from dashboard.slo.current import current
from dashboard.steering.registered import registry
from dashboard.store import Entry, Store
from dashboard.worker import loop
from dashboard.worker.needs import reads_of_all
from techniques.slo.objective import Objective, Of
from techniques.view import EVERYTHING, Reads, View

log = logging.getLogger(__name__)

# The shortest wait of XREAD: returns the entries that are there now.
AT_ONCE_MS = 1
# How long a failure is reported after it last happened.
FAILURE_LASTS_MS = 60_000
LONGEST_FAILURE = 200
# How often SLOs are read again, for changes by operators.
OBJECTIVES_EVERY_MS = 1_000

ASKED_ONLY = wire.Only(sections=frozenset((wire.ASKED,)), metrics=frozenset())


@dataclass(frozen=True)
class Newest:
    """The newest readable frame: its time, its run, and what it reports about the settings that
    were asked of the job."""

    window_start_ms: int
    run_id: str
    asked: Asked | None


@dataclass
class _Job:
    history: History
    after_ms: dict[Stream, int] = field(default_factory=dict)
    newest: Newest | None = None
    # Kept until data is added, so that controllers reuse what rules computed (`View.once`).
    view: View | None = None
    # Of jobs with a latency objective.
    bins: LatencyBins | None = None
    unreadable: int = 0
    failure: str = ""
    failed_ms: int = 0


class Histories:
    """One history per job. `objectives` returns the SLOs by job."""

    def __init__(
        self,
        reads: frozenset[Reads] = EVERYTHING,
        objectives: Callable[[], Mapping[str, Objective]] = dict,
    ) -> None:
        self._reads = reads
        self._only = only(reads)
        # Few jobs need these, and decoding them is not free.
        committed = self._only.sections | {wire.COMMITTED}
        self._with_committed = wire.Only(committed, self._only.metrics)
        self._read_objectives = objectives
        self._objectives: Mapping[str, Objective] = {}
        self._objectives_read_ms: int | None = None
        self._jobs: dict[str, _Job] = {}
        self._now_ms = 0

    def empty(self) -> "Histories":
        """Returns new, empty histories that read the same parts of frames."""
        return Histories(self._reads, self._read_objectives)

    def read(self, store: Store, job_ids: Sequence[str], now_ms: int) -> None:
        """Adds the entries of these jobs since the last call, at most two minutes. May raise
        `StoreUnavailable`."""
        self._now_ms = now_ms
        self._refresh_objectives(now_ms)
        after = {
            stream: max(self._read_to(stream), now_ms - LOOKS_BACK_MS)
            for job_id in job_ids
            for stream in (keys.frames(job_id), keys.activities(job_id))
        }
        news = loop.run(store.follow(after, AT_ONCE_MS)) if after else {}
        for job_id in {stream.job_id for stream in news}:
            self._feed(job_id, news, now_ms)

    def view(self, job_id: str) -> View | None:
        """The job's view, valid until the job is read again; None if there is no data."""
        if (job := self._jobs.get(job_id)) is None or job.newest is None:
            return None
        if job.view is None:
            objective = self._objectives.get(job_id)
            job.view = job.history.view(objective, _objective_ms(objective, job.bins))
        return job.view

    def objectives(self) -> Mapping[str, Objective]:
        """The SLOs of the jobs that are read here."""
        return {
            job_id: objective
            for job_id in self._jobs
            if (objective := self._objectives.get(job_id)) is not None
        }

    def bins(self, job_id: str) -> LatencyBins | None:
        """The latency that the job's SLO is about; None if it is about none."""
        job = self._jobs.get(job_id)
        return job.bins if job else None

    def newest(self, job_id: str) -> Newest | None:
        job = self._jobs.get(job_id)
        return job.newest if job else None

    def failure(self, job_id: str) -> str:
        """Why this job's data could not be read lately; empty if it could."""
        job = self._jobs.get(job_id)
        if job is None or self._now_ms - job.failed_ms > FAILURE_LASTS_MS:
            return ""
        return job.failure

    def fail(self, job_id: str, why: str) -> None:
        """Records an error that occurred while processing the job's data."""
        job = self._job(job_id)
        job.failure, job.failed_ms = why[:LONGEST_FAILURE], self._now_ms

    def keep(self, job_ids: Iterable[str]) -> None:
        """Forgets all others: they ended, fell silent or are another worker's."""
        kept = set(job_ids)
        self._jobs = {job_id: job for job_id, job in self._jobs.items() if job_id in kept}

    def _feed(self, job_id: str, news: Mapping[Stream, Sequence[Entry]], now_ms: int) -> None:
        job = self._job(job_id)
        frames = news.get(keys.frames(job_id), ())
        ended = news.get(keys.activities(job_id), ())
        for stream in (keys.frames(job_id), keys.activities(job_id)):
            if entries := news.get(stream):
                job.after_ms[stream] = entries[-1].at_ms
        job.view = None
        job.bins = self._bins_for(job_id, job)
        try:
            self._add(job, frames, ended, now_ms)
        except Exception as error:
            log.exception("the history of %s begins anew", job_id)
            # The history may hold only half of the entries: start an empty one.
            job.history, job.newest, job.bins = self._empty(), None, None
            self.fail(job_id, f"its data could not be taken in: {type(error).__name__}: {error}")

    def _add(self, job: _Job, frames: Sequence[Entry], ended: Sequence[Entry], now_ms: int) -> None:
        needs_committed = job.bins is not None and job.bins.of is Of.COMMITTED
        wanted = self._with_committed if needs_committed else self._only
        read, unreadable = windows.in_place(frames, wanted)
        intervals, more = activities.read(ended, with_tasks=Reads.TASKS in self._reads)
        job.history.add([frame for _, frame in read], intervals)
        if job.bins is not None:
            job.bins.add(frame for _, frame in read)
        # The state of techniques is decoded only from the newest frame, not from twenty a second.
        for entry, frame in reversed(read):
            try:
                asked = wire.decode(entry.payload, ASKED_ONLY).asked
            except Garbled:
                unreadable += 1
                continue
            job.newest = Newest(frame.start_ms, str(frame.run_id), asked)
            break
        if unreadable + more:
            if now_ms - job.failed_ms > FAILURE_LASTS_MS:
                job.unreadable = 0
            job.unreadable += unreadable + more
            entries = "entry" if job.unreadable == 1 else "entries"
            job.failure = f"{job.unreadable} {entries} of its streams could not be read"
            job.failed_ms = now_ms

    def _bins_for(self, job_id: str, job: _Job) -> LatencyBins | None:
        objective = self._objectives.get(job_id)
        if objective is None or objective.latency is None:
            return None
        of = objective.latency.of
        return job.bins if job.bins is not None and job.bins.of is of else LatencyBins(of)

    def _read_to(self, stream: Stream) -> int:
        job = self._jobs.get(stream.job_id)
        return job.after_ms.get(stream, -1) if job else -1

    def _refresh_objectives(self, now_ms: int) -> None:
        read_ms = self._objectives_read_ms
        if read_ms is None or now_ms - read_ms >= OBJECTIVES_EVERY_MS:
            self._objectives_read_ms = now_ms
            try:
                self._objectives = self._read_objectives()
            except DatabaseError as error:
                # Keep the previous SLOs; jobs are examined all the same.
                log.warning("SLOs cannot be read now: %s", error)

    def _job(self, job_id: str) -> _Job:
        if job_id not in self._jobs:
            self._jobs[job_id] = _Job(self._empty())
        return self._jobs[job_id]

    def _empty(self) -> History:
        return History(LOOKS_BACK_MS // WINDOW_MS, self._reads)


def _objective_ms(objective: Objective | None, bins: LatencyBins | None) -> float | None:
    if objective is None or objective.latency is None or bins is None or bins.newest is None:
        return None
    return bins.newest.ms(objective.latency.statistic)


@cache
def the_histories() -> Histories:
    """The histories of this process, shared by detection, controllers and cards."""
    return Histories(reads_of_all(registry()), current)
