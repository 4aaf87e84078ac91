"""A made-up week of an archive, with a known truth.

Twenty jobs on five hosts, with a daily rhythm, noise that remembers, and stalls of their own: the
roll-ups of seven days. Two things are planted:

- two jobs of one host stall at the same moments, four times a day (ShadowSync across jobs);
- the p99 of one job is 1.4 times as high from the fifth day on, with a new release and twice the
  state.

Decoys: other jobs get a release and nothing changes, state grows all week, batches are larger by
day. Frames of 50 ms are made for the minutes around the planted stalls, and around as many of the
jobs' own stalls, which have no cause that a frame could show.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from uuid import NAMESPACE_OID, UUID, uuid5

import numpy as np
import pyarrow as pa

from collectors.formats import activity, keys, wire
from collectors.formats.activity import Activity, Kind
from collectors.formats.buckets import Histogram
from collectors.formats.keys import Entry
from collectors.formats.metrics import BY_NAME
from collectors.formats.wire import WINDOW_MS, Batch, ExecutorSample, Frame, TaskCounts
from dashboard.history.archive import Archive
from techniques.intervals import Floats, Ints

# A Monday.
START_MS = 1_793_577_600_000
SECOND_MS, MINUTE_MS, HOUR_MS = 1_000, 60_000, 3_600_000
DAY_S, HOUR_S = 86_400, 3_600
# log p99 of a lognormal latency lies so far above its median.
WIDTH, TO_P99 = 0.5, 2.326
BEFORE_S, AFTER_S = 75, 45
STALL_S = 3


@dataclass(frozen=True)
class Week:
    seed: int = 0
    jobs: int = 20
    per_host: int = 4
    days: int = 7
    stalls_per_day: int = 12
    meetings_per_day: int = 4
    jump: float = 1.4
    planted: bool = True
    stalling: tuple[int, int] = field(default=(1, 2))
    changing: int = 5

    @property
    def end_ms(self) -> int:
        return START_MS + self.days * DAY_S * SECOND_MS

    @property
    def change_ms(self) -> int:
        """In the middle of the week, at ten in the morning."""
        return START_MS + (self.days // 2 + 1) * DAY_S * SECOND_MS + 10 * HOUR_MS

    def job_id(self, at: int) -> str:
        return f"week.job-{at:02d}"

    def host(self, at: int) -> str:
        return f"node-{at // self.per_host}.example"

    @property
    def job_ids(self) -> list[str]:
        return [self.job_id(at) for at in range(self.jobs)]

    @cached_property
    def meetings_s(self) -> Ints:
        """The seconds of the week at which the two jobs stall together."""
        random = np.random.default_rng((self.seed, 1_000))
        slots = self.days * self.meetings_per_day
        length = self.days * DAY_S // slots
        return np.arange(slots) * length + random.integers(120, length - 120, slots)

    def own_stalls_s(self, at: int) -> Ints:
        random = np.random.default_rng((self.seed, 2_000 + at))
        many = self.days * self.stalls_per_day
        return np.sort(random.integers(200, self.days * DAY_S - 200, many))

    def write(self, archive: Archive) -> None:
        for at in range(self.jobs):
            for step_ms, rolled in _rolled(self, at).items():
                archive.append_rolled(self.job_id(at), step_ms, rolled, -1, self.end_ms)
        for at, times_s, planted in self._framed():
            _write_frames(archive, self, at, times_s, planted)

    def _framed(self) -> Iterator[tuple[int, Sequence[int], bool]]:
        """Which jobs have frames, around which seconds."""
        many = len(self.meetings_s)
        if self.planted:
            yield from ((at, self.meetings_s.tolist(), True) for at in self.stalling)
        ordinary = (0, self.changing) if self.planted else (0, 1)
        for at in range(self.jobs):
            if not (self.planted and at in self.stalling):
                # One of the others: an archive knows a job by its frames.
                some = many if at in ordinary else 1
                yield at, self.own_stalls_s(at)[:some].tolist(), False


def _rolled(week: Week, at: int) -> dict[int, pa.Table]:
    random = np.random.default_rng((week.seed, at))
    seconds = week.days * DAY_S
    level = _level(week, at, random, seconds)
    p99_us = 200_000 * np.exp(level)
    every_minute = np.random.default_rng((week.seed, 3_000 + at)).integers(900, 1_100, seconds)
    records = every_minute * (1 + 0.4 * np.sin(2 * np.pi * np.arange(seconds) / DAY_S))
    return {
        step_s * SECOND_MS: _table(week, at, step_s, p99_us, level, records)
        for step_s in (1, 60, HOUR_S)
    }


def _level(week: Week, at: int, random: np.random.Generator, seconds: int) -> Floats:
    """The logarithm of each second's p99, as a share of 200 ms."""
    hours = -(-seconds // HOUR_S) + 1
    slow = np.zeros(hours)
    for hour in range(1, hours):
        slow[hour] = 0.6 * slow[hour - 1] + 0.05 * random.normal()
    place = np.arange(seconds)
    level = np.interp(place / HOUR_S, np.arange(hours), slow)
    level += 0.5 * np.sin(2 * np.pi * (place / DAY_S + at / 7))
    level += 0.06 * random.normal(size=seconds)
    if week.planted and at == week.changing:
        level[(week.change_ms - START_MS) // SECOND_MS :] += np.log(week.jump)
    for stall in week.own_stalls_s(at):
        level[stall : stall + int(random.integers(1, STALL_S + 1))] += np.log(random.uniform(2, 4))
    if week.planted and at in week.stalling:
        for meeting in week.meetings_s:
            level[meeting : meeting + STALL_S] += np.log(3.5)
    return level


def _table(
    week: Week, at: int, step_s: int, p99_us: Floats, level: Floats, records: Floats
) -> pa.Table:
    rows = len(level) // step_s
    at_ms = START_MS + np.arange(rows, dtype=np.int64) * step_s * SECOND_MS
    per_step = records.reshape(rows, step_s).sum(axis=1).astype(np.int64)
    columns = {
        "at_ms": at_ms,
        "windows": np.full(rows, step_s * SECOND_MS // WINDOW_MS),
        "records": per_step,
        "p99_us": p99_us if step_s == 1 else _mixed(level.reshape(rows, step_s)),
        "batches": np.full(rows, step_s),
        "rows_in": per_step,
        "release": _releases(week, at, at_ms),
        "state_bytes": _state(week, at, at_ms),
    }
    table = pa.table({name: pa.array(values) for name, values in columns.items()})
    if step_s < HOUR_S:
        return table
    cpu = pa.array([[(week.host(at), 400.0)]] * rows, pa.map_(pa.string(), pa.float64()))
    return table.append_column("host_cpu", cpu)


def _mixed(levels: Floats) -> Floats:
    """The p99 of the latencies of many seconds: lognormal ones whose medians spread as well."""
    spread = np.sqrt(WIDTH**2 + levels.var(axis=1))
    mixed: Floats = 200_000 * np.exp(levels.mean(axis=1) + TO_P99 * (spread - WIDTH))
    return mixed


def _releases(week: Week, at: int, at_ms: Ints) -> list[str]:
    """The planted job and every third of the others get a release in the week."""
    if week.planted and at == week.changing:
        since_ms = week.change_ms
    elif at % 3 == 0:
        since_ms = START_MS + (2 * DAY_S + at * HOUR_S) * SECOND_MS
    else:
        since_ms = week.end_ms
    return np.where(at_ms < since_ms, str(_run(at, 1)), str(_run(at, 2))).tolist()  # type: ignore[no-any-return]


def _state(week: Week, at: int, at_ms: Ints) -> Ints:
    grown = 1e9 * np.exp((at_ms - START_MS) / HOUR_MS * 0.005)
    if week.planted and at == week.changing:
        grown = np.where(at_ms < week.change_ms, grown, 2 * grown)
    return grown.astype(np.int64)


def _run(at: int, number: int) -> UUID:
    return uuid5(NAMESPACE_OID, f"{at} {number}")


def _write_frames(
    archive: Archive, week: Week, at: int, times_s: Sequence[int], planted: bool
) -> None:
    """Frames and activities of the seconds around these times, each second once."""
    bodies = _Bodies(week.host(at))
    frames, ended = keys.frames(week.job_id(at)), keys.activities(week.job_id(at))
    entries: list[Entry] = []
    told: list[Entry] = []
    busy = {each + by for each in times_s for by in range(STALL_S)}
    around = {each + by for each in times_s for by in range(-BEFORE_S, AFTER_S)}
    for second in sorted(around):
        at_ms = START_MS + second * SECOND_MS
        for number in range(SECOND_MS // WINDOW_MS):
            window = at_ms // WINDOW_MS + number
            head = wire.encode(Frame(window, window % 2**31, _run(at, 1)))
            body = bodies.at(second, number, second in busy, planted)
            entries.append(Entry(window * WINDOW_MS, head + body))
        told.append(Entry(at_ms, activity.encode(_ended(second, planted and second in busy))))
    archive.append({frames: entries, ended: told}, {})


class _Bodies:
    """The sections of frames, encoded once for every kind of window."""

    DIFFERENT = 40

    def __init__(self, host: str) -> None:
        random = np.random.default_rng(0)
        self._bodies = {
            (high, full, number): self._body(random, host, high, full, number)
            for high, full in ((False, False), (True, False), (True, True))
            for number in range(self.DIFFERENT)
        }

    def at(self, second: int, number: int, high: bool, planted: bool) -> bytes:
        return self._bodies[high, high and planted, (second * 20 + number) % self.DIFFERENT]

    @staticmethod
    def _body(random: np.random.Generator, host: str, high: bool, full: bool, number: int) -> bytes:
        median_us = 60_000 * (3.5 if high else 1.0)
        latencies = median_us * np.exp(WIDTH * random.normal(size=50))
        cpu = 1_000 if full else int(random.integers(300, 500))
        metrics = {"host_cpu": cpu, "host_runnable": 40 if full else 2, "process_cores": 4}
        sample = ExecutorSample("1", host, {BY_NAME[name].id: of for name, of in metrics.items()})
        frame = Frame(
            0,
            0,
            UUID(int=0),
            latency=Histogram.of(latencies.astype(int).tolist()),
            stamped=True,
            batches=(Batch(1, 0, 600, 1_000),) if number % 20 == 0 else (),
            tasks=TaskCounts(running=4, finished=1),
            executors=(sample,),
        )
        return wire.encode(frame)[len(wire.encode(Frame(0, 0, UUID(int=0)))) :]


def _ended(second: int, compacts: bool) -> list[Activity]:
    at_us = (START_MS + second * SECOND_MS) * 1_000
    ended = [Activity(Kind.BATCH, at_us, at_us + 600_000, name=f"batch {second}")]
    for partition in range(4):
        ended.append(
            Activity(Kind.FLUSH, at_us + 600_000, at_us + 620_000, "1", 0, partition, "", "", 10**6)
        )
        if compacts:
            ended.append(
                Activity(Kind.COMPACTION, at_us, at_us + 950_000, "1", 0, partition, "", "", 10**8)
            )
    return ended
