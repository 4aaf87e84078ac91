"""One frame: everything known of one job in one 50 ms window. The format on the Redis stream.

Integers are LEB128, texts UTF-8 behind their length (`formats.codec`).

    byte      0xC7
    byte      version = 1
    varint    window                     epoch ms // 50
    varint    sequence                   0, 1, 2 … within a run: a hole is a lost frame
    16 bytes  run id                     the query's run UUID
    then sections, each: byte tag, varint length, payload

    tag 1     latency                    histogram of the records that were processed (`buckets`)
    tag 2     batches                    micro-batches that ended: varint number, then each
                varint batch id, varint start epoch ms, varint duration ms, varint rows in,
                varint duration ms of each of PHASES in that order
    tag 4     health                     totals of the run, varints: frames dropped, parts late,
                parts lost between executor and collector, records lost in executors or too
                late for their window, events lost, messages the collector could not read, windows
                skipped after a stall of the collector (this one absent in older frames)
    tag 5     backlog                    varint rows the source has and the query has not read
    tag 6     stamped                    present, and empty, once this run counted a record: from
                                         then on, no latencies means no records
    tag 7     state                      varint number of stateful operators, then each
                varint operator, varint flushes and varint compactions that ran at once at most,
                varint most files on level 0 in one partition + 1 (0 = not known yet)
    tag 8     tasks                      varints: running at once at most, waiting at the end,
                finished, failed, speculative copies at once at most, started in a place they did
                not prefer
    tag 9     traffic                    shuffle bytes of stages that ended: varint number,
                then each text from executor, text to executor, varint bytes
    tag 10    committed                  histogram of the records whose batch was committed: of the
                                         batches of tag 2, each record from event to commit
    tag 11    collector                  its own work and what it takes (`formats.collector_load`)
    tag 12    asked                      what was asked of the job and where that stands
                                         (`formats.asked`); absent as long as nothing was
    tag 13    executors                  what each measured (`formats.samples`)
    tag 15    warming up                 present, and empty, until the run's batches no longer get
                                         shorter (`process.warm_up`)
    tag 17    sink                       text: what Spark calls the query's sink
    tag 18    slots                      what the scheduler has on each executor (`formats.slots`)
    tag 19    heavy keys                 of `watch_keys`, once a second (`formats.heavy_keys`)
    tag 20    state sizes                rows and bytes of each operator (`formats.state_sizes`)
    tag 21    lag                        behind the sources, in time and rows (`formats.lag`)
    tag 22    pools                      the operator pools that the query uses (`formats.pools`)

Tags 17, 18, 20 and 21 change slowly: they are in one frame a second (`process.assembly`), and so
are those metrics of tag 13 that `formats.metrics` calls seldom.
Absent sections are empty. Tags 3, 14 and 16 had another meaning once and stay unused. A reader
skips tags it does not know, so a section can be added without a new version; the version changes
when a reader of the old one would misread.
"""

from dataclasses import dataclass, fields
from uuid import UUID

from collectors.formats import (
    asked,
    buckets,
    collector_load,
    heavy_keys,
    lag,
    pools,
    samples,
    slots,
    state_sizes,
)
from collectors.formats.asked import Asked
from collectors.formats.buckets import Histogram
from collectors.formats.codec import Garbled, Reader, Writer
from collectors.formats.collector_load import CollectorLoad
from collectors.formats.heavy_keys import WatchedKeys
from collectors.formats.lag import Lag
from collectors.formats.pools import PoolSample
from collectors.formats.samples import ExecutorSample as ExecutorSample
from collectors.formats.slots import ExecutorSlots
from collectors.formats.state_sizes import StateSize

MAGIC = 0xC7
VERSION = 1
WINDOW_MS = 50

PHASES = (
    "latestOffset",
    "getBatch",
    "queryPlanning",
    "walCommit",
    "addBatch",
    "commitOffsets",
)

LATENCY, BATCHES = 1, 2
HEALTH, BACKLOG, STAMPED, STATE, TASKS, TRAFFIC, COMMITTED = range(4, 11)
COLLECTOR, ASKED, EXECUTORS = range(11, 14)
WARMING_UP = 15
SINK, SLOTS, HEAVY_KEYS, STATE_SIZES, LAG, POOLS = range(17, 23)


class UnknownVersion(Garbled):
    """A frame written by a version of Curtail that this one cannot read."""


@dataclass(frozen=True)
class Batch:
    batch_id: int
    start_ms: int
    duration_ms: int
    rows_in: int
    phases_ms: tuple[int, ...] = (0,) * len(PHASES)

    @property
    def end_ms(self) -> int:
        return self.start_ms + self.duration_ms


@dataclass(frozen=True)
class OperatorState:
    """What the state stores of one operator did in a window, over all its partitions."""

    operator: int
    flushes: int = 0
    compactions: int = 0
    l0_files: int | None = None


@dataclass(frozen=True)
class TaskCounts:
    running: int = 0
    waiting: int = 0
    finished: int = 0
    failed: int = 0
    speculative: int = 0
    locality_misses: int = 0


@dataclass(frozen=True)
class Shuffled:
    from_executor: str
    to_executor: str
    shuffle_bytes: int


@dataclass(frozen=True)
class Health:
    """Totals since the run began; they only rise."""

    dropped_frames: int = 0
    late_parts: int = 0
    lost_parts: int = 0
    lost_records: int = 0
    lost_events: int = 0
    unreadable_messages: int = 0
    skipped_windows: int = 0


_TASK_COUNTS = len(fields(TaskCounts))

# Shared, because most frames have exactly these and there are twenty a second.
NO_RECORDS, HEALTHY, NO_TASKS = Histogram(), Health(), TaskCounts()


@dataclass(frozen=True)
class Frame:
    window: int
    sequence: int
    run_id: UUID
    latency: Histogram = NO_RECORDS
    batches: tuple[Batch, ...] = ()
    executors: tuple[ExecutorSample, ...] = ()
    health: Health = HEALTHY
    backlog_rows: int | None = None
    stamped: bool = False
    state: tuple[OperatorState, ...] = ()
    tasks: TaskCounts = NO_TASKS
    traffic: tuple[Shuffled, ...] = ()
    committed: Histogram = NO_RECORDS
    collector: CollectorLoad | None = None
    asked: Asked | None = None
    pools: tuple[PoolSample, ...] = ()
    warming_up: bool = False
    sink: str = ""
    slots: tuple[ExecutorSlots, ...] = ()
    heavy_keys: tuple[WatchedKeys, ...] = ()
    state_sizes: tuple[StateSize, ...] = ()
    lag: Lag | None = None

    @property
    def start_ms(self) -> int:
        return self.window * WINDOW_MS


def encode(frame: Frame) -> bytes:
    out = Writer()
    out.byte(MAGIC)
    out.byte(VERSION)
    out.varint(frame.window)
    out.varint(frame.sequence)
    out.uuid(frame.run_id)
    if frame.latency.counts:
        _section(out, LATENCY, _histogram(frame.latency))
    if frame.batches:
        _section(out, BATCHES, _batches(frame.batches))
    if frame.health != Health():
        write_health(section := Writer(), frame.health)
        _section(out, HEALTH, section)
    if frame.backlog_rows is not None:
        (section := Writer()).varint(frame.backlog_rows)
        _section(out, BACKLOG, section)
    if frame.stamped:
        _section(out, STAMPED, Writer())
    if frame.state:
        _section(out, STATE, _state(frame.state))
    if frame.tasks != TaskCounts():
        _section(out, TASKS, _totals(frame.tasks))
    if frame.traffic:
        _section(out, TRAFFIC, _traffic(frame.traffic))
    if frame.committed.counts:
        _section(out, COMMITTED, _histogram(frame.committed))
    if frame.collector is not None:
        collector_load.write(section := Writer(), frame.collector)
        _section(out, COLLECTOR, section)
    if frame.asked is not None:
        asked.write(section := Writer(), frame.asked)
        _section(out, ASKED, section)
    if frame.executors:
        samples.write(section := Writer(), frame.executors)
        _section(out, EXECUTORS, section)
    if frame.warming_up:
        _section(out, WARMING_UP, Writer())
    if frame.sink:
        (section := Writer()).text(frame.sink)
        _section(out, SINK, section)
    if frame.slots:
        slots.write(section := Writer(), frame.slots)
        _section(out, SLOTS, section)
    if frame.heavy_keys:
        heavy_keys.write(section := Writer(), frame.heavy_keys)
        _section(out, HEAVY_KEYS, section)
    if frame.state_sizes:
        state_sizes.write(section := Writer(), frame.state_sizes)
        _section(out, STATE_SIZES, section)
    if frame.lag is not None:
        lag.write(section := Writer(), frame.lag)
        _section(out, LAG, section)
    if frame.pools:
        pools.write(section := Writer(), frame.pools)
        _section(out, POOLS, section)
    return out.bytes()


@dataclass(frozen=True)
class Only:
    """What a reader wants of a frame: some sections, and of executors some metrics."""

    sections: frozenset[int]
    metrics: frozenset[int]


def decode(data: bytes, only: Only | None = None) -> Frame:
    """Raises `Garbled` (of which `UnknownVersion` is one kind) for anything but a frame.

    With `only`, all other sections are returned empty and are not decoded."""
    reader = Reader(data)
    if reader.byte() != MAGIC:
        raise Garbled("not a frame")
    if (version := reader.byte()) != VERSION:
        raise UnknownVersion(f"a frame of version {version}, this reads {VERSION}")
    window, sequence, run_id = reader.varint(), reader.varint(), reader.uuid()
    sections = {
        tag: Reader(payload)
        for tag, payload in reader.tagged().items()
        if only is None or tag in only.sections
    }
    metrics = only.metrics if only else None
    return Frame(
        window=window,
        sequence=sequence,
        run_id=run_id,
        latency=buckets.read(s) if (s := sections.get(LATENCY)) else NO_RECORDS,
        batches=_read_batches(s) if (s := sections.get(BATCHES)) else (),
        executors=samples.read(s, metrics) if (s := sections.get(EXECUTORS)) else (),
        health=read_health(s) if (s := sections.get(HEALTH)) else HEALTHY,
        backlog_rows=s.varint() if (s := sections.get(BACKLOG)) else None,
        stamped=STAMPED in sections,
        state=_read_state(s) if (s := sections.get(STATE)) else (),
        tasks=_read_tasks(s) if (s := sections.get(TASKS)) else NO_TASKS,
        traffic=_read_traffic(s) if (s := sections.get(TRAFFIC)) else (),
        committed=buckets.read(s) if (s := sections.get(COMMITTED)) else NO_RECORDS,
        collector=collector_load.read(s) if (s := sections.get(COLLECTOR)) else None,
        asked=asked.read(s) if (s := sections.get(ASKED)) else None,
        pools=pools.read(s) if (s := sections.get(POOLS)) else (),
        warming_up=WARMING_UP in sections,
        sink=s.text() if (s := sections.get(SINK)) else "",
        slots=slots.read(s) if (s := sections.get(SLOTS)) else (),
        heavy_keys=heavy_keys.read(s) if (s := sections.get(HEAVY_KEYS)) else (),
        state_sizes=state_sizes.read(s) if (s := sections.get(STATE_SIZES)) else (),
        lag=lag.read(s) if (s := sections.get(LAG)) else None,
    )


def _section(out: Writer, tag: int, payload: Writer) -> None:
    out.byte(tag)
    out.blob(payload.bytes())


def _histogram(histogram: Histogram) -> Writer:
    out = Writer()
    buckets.write(out, histogram)
    return out


def _batches(batches: tuple[Batch, ...]) -> Writer:
    out = Writer()
    out.varint(len(batches))
    for batch in batches:
        for value in (batch.batch_id, batch.start_ms, batch.duration_ms, batch.rows_in):
            out.varint(value)
        for phase_ms in batch.phases_ms:
            out.varint(phase_ms)
    return out


def _read_batches(reader: Reader) -> tuple[Batch, ...]:
    return tuple(
        Batch(
            batch_id=reader.varint(),
            start_ms=reader.varint(),
            duration_ms=reader.varint(),
            rows_in=reader.varint(),
            phases_ms=tuple(reader.varint() for _ in PHASES),
        )
        for _ in range(reader.varint())
    )


def _state(state: tuple[OperatorState, ...]) -> Writer:
    out = Writer()
    out.varint(len(state))
    for each in state:
        out.varint(each.operator)
        out.varint(each.flushes)
        out.varint(each.compactions)
        out.optional(each.l0_files)
    return out


def _read_state(reader: Reader) -> tuple[OperatorState, ...]:
    return tuple(
        OperatorState(reader.varint(), reader.varint(), reader.varint(), reader.optional())
        for _ in range(reader.varint())
    )


def _traffic(traffic: tuple[Shuffled, ...]) -> Writer:
    out = Writer()
    out.varint(len(traffic))
    for each in traffic:
        out.text(each.from_executor)
        out.text(each.to_executor)
        out.varint(each.shuffle_bytes)
    return out


def _read_traffic(reader: Reader) -> tuple[Shuffled, ...]:
    return tuple(
        Shuffled(reader.text(), reader.text(), reader.varint()) for _ in range(reader.varint())
    )


def _totals(counts: TaskCounts) -> Writer:
    out = Writer()
    # Not `astuple`, which copies deeply: twenty times as slow, twenty times a second.
    for count in vars(counts).values():
        out.varint(count)
    return out


def _read_tasks(reader: Reader) -> TaskCounts:
    return TaskCounts(*reader.varints(_TASK_COUNTS))


def write_health(out: Writer, health: Health) -> None:
    for count in vars(health).values():
        out.varint(count)


def read_health(reader: Reader) -> Health:
    """Reads the totals; one that an older version did not write is 0. New ones go to the end."""
    return Health(*(reader.varint() if reader.left else 0 for _ in fields(Health)))
