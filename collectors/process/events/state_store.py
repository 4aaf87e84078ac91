"""Turns state stores' log lines into intervals: flushes, compactions, commits, snapshots.

The probe passes on single lines (`probe/statestore/StateStoreTap.scala`), this pairs them. Of
RocksDB's own log it is the machine-readable part, `EVENT_LOG_v1`, in wall-clock microseconds; of
Spark's log the lines below, whose wording is that of Spark 4.3. What is not understood is skipped:
a line is what somebody else's program chose to print. `docs/state-store.md` has the picture.

How large each store is comes as an event as well (`probe/statestore/StateSizes.scala`), as a number
of bytes: that is an activity without a length.
"""

import json
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

from collectors.formats.activity import Activity, Kind
from collectors.formats.parts import Event, EventSource
from collectors.process.events.concurrency import Interval, most_at_once

# A start whose end never came (its executor died, the end was dropped) is forgotten after this.
LONGEST_US = 600_000_000
# How long an ended interval is kept for windows that close after it ended.
KEPT_US = 1_000_000
# Far more than any known job has open at once; beyond this the oldest are dropped.
MOST_OPEN = 20_000
MOST_KEPT = 50_000

_STORE = re.compile(
    r"operatorId=(\d+), partitionId=(\d+), storeName=(.*?) \].*queryRunId=([^ \]]+)"
)
_COMMIT_BEGAN = re.compile(r"Flushing updates for (\d{1,18})")
_COMMITTED = re.compile(r"Committed (\d{1,18})\b")
_COMMITTED_IN_MEMORY = re.compile(r"Committed version \d+")
_ROLLED_BACK = re.compile(r"Rolling back ")
_UPLOADED = re.compile(r"Upload snapshot of version \d+\b.*time taken: (\d{1,15}) ms", re.DOTALL)
_WRITTEN = re.compile(r"writeSnapshotFile\(\) took (\d{1,15}) ms")
_BYTES = re.compile(r"[0-9]{1,18}")
_CLOSED = "Shutdown complete"

_SOURCES = (EventSource.ROCKSDB, EventSource.STATE_STORE, EventSource.STATE_SIZE)
_STARTS = {"flush_started": Kind.FLUSH, "compaction_started": Kind.COMPACTION}
_ENDS = {"flush_finished": Kind.FLUSH, "compaction_finished": Kind.COMPACTION}


@dataclass(frozen=True)
class StoreId:
    run_id: str
    operator: int
    partition: int
    store: str


@dataclass(frozen=True)
class Started:
    """An activity that has started and whose end was not reported yet."""

    executor_id: str
    store: StoreId
    kind: Kind
    job: int  # RocksDB's job number; for a commit the version
    start_us: int
    reason: str = ""
    input_bytes: int | None = None
    output_bytes: int | None = None


@dataclass(frozen=True)
class Finished:
    store: StoreId
    activity: Activity


class Lane(NamedTuple):
    """Activities that are counted together to find how many ran at once."""

    run_id: str
    operator: int
    kind: Kind


class _Key(NamedTuple):
    executor_id: str
    store: StoreId
    kind: Kind
    job: int


class StateStores:
    """All stores of an application, on all its executors. Feed it every event, in order."""

    def __init__(self) -> None:
        self._open: dict[_Key, Started] = {}
        self._ended: deque[Interval[Lane]] = deque(maxlen=MOST_KEPT)
        self._l0_files: dict[StoreId, int] = {}

    def read(self, executor_id: str, event: Event, ahead_us: int = 0) -> Finished | None:
        """Returns the activity that ended with this event, if one did.

        `ahead_us`: the driver's clock less that of the executor, on which RocksDB writes its log.
        """
        if event.source not in _SOURCES or (store := store_id(event.context)) is None:
            return None
        if event.source == EventSource.STATE_SIZE:
            return _sized(executor_id, store, event)
        if event.source == EventSource.STATE_STORE:
            finished = self._spark_line(executor_id, store, event)
        elif event.body == _CLOSED:
            self._drop(lambda key: key.executor_id == executor_id and key.store == store)
            finished = None
        else:
            finished = self._native(executor_id, store, event.body, ahead_us)
        if finished:
            activity = finished.activity
            lane = Lane(store.run_id, store.operator, activity.kind)
            self._ended.append(Interval(lane, activity.start_us, activity.end_us))
        return finished

    def open(self) -> tuple[Started, ...]:
        """The activities that started and did not finish yet."""
        return tuple(self._open.values())

    def most_at_once(self, start_us: int, end_us: int) -> dict[Lane, int]:
        """Returns, per run, operator and kind, the most that ran at one moment of the window.

        Call in order of time: intervals that ended well before this window are forgotten.
        """
        self._let_go(start_us)
        return most_at_once(self._intervals(), start_us, end_us)

    def l0_files(self) -> Mapping[tuple[str, int, int], int]:
        """Returns the last reported number of level-0 files per run, operator and partition.

        If a partition has several stores (a join), the fullest counts: that is the one that stalls.
        """
        fullest: dict[tuple[str, int, int], int] = {}
        for store, files in self._l0_files.items():
            partition = (store.run_id, store.operator, store.partition)
            fullest[partition] = max(files, fullest.get(partition, 0))
        return fullest

    def forget_run(self, run_id: str) -> None:
        """Forgets a run that ended: its stores report nothing more."""
        self._drop(lambda key: key.store.run_id == run_id)
        self._l0_files = {s: n for s, n in self._l0_files.items() if s.run_id != run_id}

    def forget_executor(self, executor_id: str) -> None:
        """Forgets everything that ran on an executor that was lost."""
        self._drop(lambda key: key.executor_id == executor_id)

    def _native(
        self, executor_id: str, store: StoreId, body: str, ahead_us: int
    ) -> Finished | None:
        said = _json_object(body)
        name, job, time_us = said.get("event"), _size(said, "job"), _size(said, "time_micros")
        if not isinstance(name, str) or job is None or time_us is None:
            return None
        time_us = max(0, time_us + ahead_us)
        if name == "table_file_creation":
            self._file_created(_Key(executor_id, store, Kind.FLUSH, job), said)
        elif kind := _STARTS.get(name):
            self._begin(
                _Key(executor_id, store, kind, job),
                Started(
                    executor_id,
                    store,
                    kind,
                    job,
                    time_us,
                    reason=str(said.get("flush_reason") or said.get("compaction_reason") or ""),
                    input_bytes=_size(said, "total_data_size", "input_data_size"),
                ),
            )
        elif kind := _ENDS.get(name):
            return self._native_end(_Key(executor_id, store, kind, job), time_us, said)
        return None

    def _native_end(self, key: _Key, time_us: int, said: Mapping[str, Any]) -> Finished | None:
        levels = said.get("lsm_state")
        if isinstance(levels, list) and levels and isinstance(levels[0], int):
            self._l0_files[key.store] = levels[0]
        started = self._open.pop(key, None)
        if started is None:
            # The start was before the probe ran, but a compaction also logs its duration.
            took_us = _size(said, "compaction_time_micros")
            if took_us is None:
                return None
            started = Started(key.executor_id, key.store, key.kind, key.job, time_us - took_us)
        output_bytes = _size(said, "total_output_size")
        if output_bytes is not None:
            started = replace(started, output_bytes=output_bytes)
        return _finished(started, time_us)

    def _file_created(self, key: _Key, said: Mapping[str, Any]) -> None:
        size = _size(said, "file_size")
        if size is not None and (flush := self._open.get(key)):
            self._open[key] = replace(flush, output_bytes=(flush.output_bytes or 0) + size)

    def _spark_line(self, executor_id: str, store: StoreId, event: Event) -> Finished | None:
        commit = _Key(executor_id, store, Kind.COMMIT, 0)  # a store has one at a time
        line, now_us = event.body, event.time_us
        if found := _COMMIT_BEGAN.match(line):
            version = int(found[1])
            # Logged twice when the commit also makes a snapshot: the first line is the start.
            if (running := self._open.get(commit)) is None or running.job != version:
                self._begin(commit, Started(executor_id, store, Kind.COMMIT, version, now_us))
        elif found := _COMMITTED.match(line):
            running = self._open.pop(commit, None)
            if running and running.job == int(found[1]):
                return _finished(running, now_us)
        elif _COMMITTED_IN_MEMORY.match(line):
            # This provider logs nothing when a commit begins.
            return _finished(Started(executor_id, store, Kind.COMMIT, 0, now_us), now_us)
        elif _ROLLED_BACK.match(line):
            self._open.pop(commit, None)
        elif found := _UPLOADED.search(line) or _WRITTEN.match(line):
            start_us = now_us - int(found[1]) * 1000
            return _finished(Started(executor_id, store, Kind.SNAPSHOT, 0, start_us), now_us)
        return None

    def _begin(self, key: _Key, started: Started) -> None:
        self._open.pop(key, None)  # so that the newest is last
        self._open[key] = started
        if len(self._open) > MOST_OPEN:
            del self._open[next(iter(self._open))]

    def _drop(self, gone: Callable[[_Key], bool]) -> None:
        self._open = {key: each for key, each in self._open.items() if not gone(key)}

    def _let_go(self, now_us: int) -> None:
        while self._ended and self._ended[0].ends_before(now_us - KEPT_US):
            self._ended.popleft()
        if any(each.start_us < now_us - LONGEST_US for each in self._open.values()):
            self._open = {
                key: each
                for key, each in self._open.items()
                if each.start_us >= now_us - LONGEST_US
            }

    def _intervals(self) -> Iterator[Interval[Lane]]:
        yield from self._ended
        for each in self._open.values():
            lane = Lane(each.store.run_id, each.store.operator, each.kind)
            yield Interval(lane, each.start_us)


@lru_cache(maxsize=4096)
def store_id(context: str) -> StoreId | None:
    """Parses the name of a store's logger; None if it is not one."""
    found = _STORE.search(context)
    return StoreId(found[4], int(found[1]), int(found[2]), found[3]) if found else None


def _finished(started: Started, end_us: int) -> Finished:
    return Finished(
        started.store,
        Activity(
            kind=started.kind,
            start_us=max(0, started.start_us),
            end_us=max(0, started.start_us, end_us),
            executor_id=started.executor_id,
            operator=started.store.operator,
            partition=started.store.partition,
            name=started.store.store,
            reason=started.reason,
            input_bytes=started.input_bytes,
            output_bytes=started.output_bytes,
        ),
    )


def _sized(executor_id: str, store: StoreId, event: Event) -> Finished | None:
    if not _BYTES.fullmatch(event.body):
        return None
    seen = Started(executor_id, store, Kind.STATE, 0, event.time_us, input_bytes=int(event.body))
    return _finished(seen, event.time_us)


def _json_object(body: str) -> Mapping[str, Any]:
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def _size(said: Mapping[str, Any], *names: str) -> int | None:
    """Returns the first of these fields that is present and holds a plausible count."""
    found = (said.get(name) for name in names)
    return next((n for n in found if isinstance(n, int) and 0 <= n < 1 << 62), None)
