"""A job's pulse: what a list of jobs and Prometheus need of it, without reading a single frame.

Written with every heartbeat into the job's announcement. Integers are LEB128
(`collectors.formats.codec`).

    byte      0xCB
    byte      version = 1
    byte      source                     of the latencies: 0 none, 1 batch, 2 record
    …         processed                  latencies of records (`collectors.formats.coarse_buckets`)
    …         committed                  latencies of records until their batch was committed
    …         batch durations            one per batch
    varints   rows in, batches, flushes, compactions, tasks failed
    blob      health                     as in a frame (`collectors.formats.wire`, tag 4)
    blob      collector                  as in a frame (`collectors.formats.collector_load`)
    varint    busy + 1                   share of one core the collector's process used between the
                                         last two heartbeats, in millionths; 0 = not known
    varint    backlog rows + 1           0 = not known
    varint    start of the last bin      epoch ms // 10 000
    varint    number of bins, at most 90, then each, oldest first
      varint    p99 µs + 1               0 = nothing completed since the run had warmed up
    byte      1 while the run warms up   absent in older pulses

Counts and sums are totals of the run, or since the collector was started again in its midst: they
rise, or they start anew. Bins are complete ones. All lengths are bounded and an integer takes ten
bytes at most, so a pulse never takes more than MAX_BYTES; a few hundred bytes are usual. A reader
passes over what follows, so something can be added at the end without a new version.
"""

from dataclasses import dataclass, field

from collectors.formats import coarse_buckets, collector_load, wire
from collectors.formats.coarse_buckets import COARSE_BUCKETS, Coarse
from collectors.formats.codec import Garbled, Reader, Writer
from collectors.formats.collector_load import CollectorLoad
from collectors.formats.latency import Source
from collectors.formats.wire import Health

MAGIC = 0xCB
VERSION = 1

BIN_MS = 10_000
# A quarter of an hour.
MOST_BINS = 90

_SOURCES = (Source.NONE, Source.BATCH, Source.RECORD)
_MILLION = 1_000_000
_COUNTS = 5
_SINGLE_INTEGERS = 4
MAX_BYTES = 4 + Reader.MAX_VARINT_BYTES * (
    3 * (2 + COARSE_BUCKETS) + _COUNTS + 8 + 6 + _SINGLE_INTEGERS + MOST_BINS
)


@dataclass(frozen=True)
class Recent:
    """The p99 of each of the last bins that are complete, oldest first; None: nothing completed."""

    last_start_ms: int = 0
    p99_us: tuple[int | None, ...] = ()

    @property
    def start_ms(self) -> int:
        """The start of the first bin; meaningless if there are no bins."""
        return self.last_start_ms - BIN_MS * max(0, len(self.p99_us) - 1)


@dataclass(frozen=True)
class Pulse:
    source: Source = Source.NONE
    processed: Coarse = field(default_factory=Coarse)
    committed: Coarse = field(default_factory=Coarse)
    batch_durations: Coarse = field(default_factory=Coarse)
    rows_in: int = 0
    batches: int = 0
    flushes: int = 0
    compactions: int = 0
    failed_tasks: int = 0
    health: Health = field(default_factory=Health)
    load: CollectorLoad = field(default_factory=CollectorLoad)
    busy_share: float | None = None
    backlog_rows: int | None = None
    recent: Recent = field(default_factory=Recent)
    warming_up: bool = False


def encode(pulse: Pulse) -> bytes:
    out = Writer()
    out.byte(MAGIC)
    out.byte(VERSION)
    out.byte(_SOURCES.index(pulse.source))
    for histogram in (pulse.processed, pulse.committed, pulse.batch_durations):
        coarse_buckets.write(out, histogram)
    out.varint(pulse.rows_in)
    out.varint(pulse.batches)
    out.varint(pulse.flushes)
    out.varint(pulse.compactions)
    out.varint(pulse.failed_tasks)
    wire.write_health(section := Writer(), pulse.health)
    out.blob(section.bytes())
    collector_load.write(section := Writer(), pulse.load)
    out.blob(section.bytes())
    out.optional(None if pulse.busy_share is None else round(pulse.busy_share * _MILLION))
    out.optional(pulse.backlog_rows)
    out.varint(pulse.recent.last_start_ms // BIN_MS)
    out.varint(len(pulse.recent.p99_us))
    for p99_us in pulse.recent.p99_us:
        out.optional(p99_us)
    out.byte(pulse.warming_up)
    return out.bytes()


def decode(data: bytes) -> Pulse:
    """Raises `Garbled` for anything but a pulse."""
    reader = Reader(data)
    if reader.byte() != MAGIC:
        raise Garbled("no pulse")
    if (version := reader.byte()) != VERSION:
        raise Garbled(f"a pulse of version {version}, this reads {VERSION}")
    if (source := reader.byte()) >= len(_SOURCES):
        raise Garbled(f"a pulse of source {source}")
    return Pulse(
        source=_SOURCES[source],
        processed=coarse_buckets.read(reader),
        committed=coarse_buckets.read(reader),
        batch_durations=coarse_buckets.read(reader),
        rows_in=reader.varint(),
        batches=reader.varint(),
        flushes=reader.varint(),
        compactions=reader.varint(),
        failed_tasks=reader.varint(),
        health=wire.read_health(Reader(reader.blob())),
        load=collector_load.read(Reader(reader.blob())),
        busy_share=None if (busy := reader.optional()) is None else busy / _MILLION,
        backlog_rows=reader.optional(),
        recent=_read_recent(reader),
        warming_up=bool(reader.left and reader.byte() == 1),
    )


def _read_recent(reader: Reader) -> Recent:
    last, bins = reader.varint(), reader.varint()
    if bins > MOST_BINS:
        raise Garbled(f"{bins} bins, at most {MOST_BINS} are kept")
    return Recent(last * BIN_MS, tuple(reader.optional() for _ in range(bins)))
