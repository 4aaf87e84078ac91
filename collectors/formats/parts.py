"""One part: what one executor saw in one 50 ms window, as the probe sends it to the driver.

Integers are LEB128 (signed ones zigzag), texts UTF-8 behind their length (`formats.codec`).
Written by `probe/link/Wire.scala`, read here; `tests/collectors/probe/test_probe_formats.py` pins
the bytes.

    byte      version = 6
    varint    window                     epoch ms // 50
    text      executor id
    text      host
    varint    records lost so far        overwritten, or dropped, before they were read
    varint    parts dropped so far       by this executor's sender
    varint    events dropped so far
    varint    number of metrics, then each
      varint    id                       `collectors.formats.metrics`
      signed    value
    varint    number of latencies, then each
      text      query id
      varint    windows ago              0 = in this window
      …         histogram                `collectors.formats.buckets`
    varint    number of tasks that succeeded since the last part, then each
      text      query id
      varint    batch id
      varint    stage id
      varint    partition
      varint    task attempt id
      varint    reference epoch µs       the driver's clock when the task began
      …         histogram                of reference − event time, on the FINE scale
    varint    number of events, then each
      byte      source                   `EventSource`
      varint    epoch µs
      text      context                  who said it
      text      body                     in its own words
    varint    number of pools that this executor tells of, then each
      …         pool                     `collectors.formats.pools`
      varint    number of queries whose tasks used it since it is watched, then each
        text      query id
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

from collectors.formats import buckets, pools
from collectors.formats.buckets import FINE, Histogram
from collectors.formats.codec import Garbled, Reader
from collectors.formats.pools import PoolSample

VERSION = 7


class EventSource(IntEnum):
    ROCKSDB = 1
    STATE_STORE = 2
    GC = 3
    LEVERS = 4
    STATE_SIZE = 5
    HEAVY_KEYS = 6


@dataclass(frozen=True)
class Latencies:
    query_id: str
    window: int
    histogram: Histogram


@dataclass(frozen=True)
class TaskLatencies:
    """How old each record of a task was at `reference_us`, until its batch's commit is known.

    All attempts of a task have the same stage and partition. One attempt may report several of
    these, because a plan may be stamped in several places.
    """

    query_id: str
    batch_id: int
    stage_id: int
    partition: int
    attempt_id: int
    reference_us: int
    ages: Histogram


@dataclass(frozen=True)
class Event:
    source: int
    time_us: int
    context: str
    body: str


@dataclass(frozen=True)
class UsedPool:
    """A pool and the streaming queries that use it; empty if only batch jobs use it."""

    pool: PoolSample
    queries: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Losses:
    """Totals since the executor began."""

    records: int = 0
    parts: int = 0
    events: int = 0


@dataclass(frozen=True)
class Part:
    window: int
    executor_id: str
    host: str
    losses: Losses
    metrics: Mapping[int, int]
    latencies: tuple[Latencies, ...]
    tasks: tuple[TaskLatencies, ...]
    events: tuple[Event, ...]
    pools: tuple[UsedPool, ...] = ()


def decode(data: bytes) -> Part:
    reader = Reader(data)
    if (version := reader.byte()) != VERSION:
        raise Garbled(f"a part of version {version}, this reads {VERSION}")
    window = reader.varint()
    part = Part(
        window=window,
        executor_id=reader.text(),
        host=reader.text(),
        losses=Losses(reader.varint(), reader.varint(), reader.varint()),
        metrics={reader.varint(): reader.signed() for _ in range(reader.varint())},
        latencies=tuple(_latencies(reader, window) for _ in range(reader.varint())),
        tasks=tuple(_task(reader) for _ in range(reader.varint())),
        events=tuple(
            Event(reader.byte(), reader.varint(), reader.text(), reader.text())
            for _ in range(reader.varint())
        ),
        pools=tuple(used_pool(reader) for _ in range(reader.varint())),
    )
    if reader.left:
        raise Garbled(f"{reader.left} bytes too many")
    return part


def used_pool(reader: Reader) -> UsedPool:
    pool = pools.read_pool(reader)
    return UsedPool(pool, frozenset(reader.text() for _ in range(reader.varint())))


def _latencies(reader: Reader, window: int) -> Latencies:
    return Latencies(
        query_id=reader.text(),
        window=window - reader.varint(),
        histogram=buckets.read(reader),
    )


def _task(reader: Reader) -> TaskLatencies:
    return TaskLatencies(
        query_id=reader.text(),
        batch_id=reader.varint(),
        stage_id=reader.varint(),
        partition=reader.varint(),
        attempt_id=reader.varint(),
        reference_us=reader.varint(),
        ages=buckets.read(reader, FINE),
    )
