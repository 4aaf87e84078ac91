"""One part: what one executor saw in one 50 ms window, as the probe sends it to the driver.

Integers are LEB128, texts UTF-8 behind their length (`collectors.codec`). Written by
`probe/Wire.scala`, read here; `tests/collectors/test_probe_formats.py` pins the bytes.

    byte      version = 1
    varint    window                     epoch ms // 50
    text      executor id
    text      host
    varint    host CPU + 1               thousandths of all cores; 0 = unknown
    varint    records lost so far        overwritten before they were read
    varint    parts dropped so far       by this executor's sender
    varint    number of latencies, then each
      text      query id
      varint    windows ago              0 = in this window
      …         histogram                `collectors.buckets`
"""

from dataclasses import dataclass

from collectors import buckets
from collectors.buckets import Histogram
from collectors.codec import Garbled, Reader

VERSION = 1


@dataclass(frozen=True)
class Latencies:
    query_id: str
    window: int
    histogram: Histogram


@dataclass(frozen=True)
class Part:
    window: int
    executor_id: str
    host: str
    host_cpu_permille: int | None
    lost_records: int
    dropped_parts: int
    latencies: tuple[Latencies, ...]


def decode(data: bytes) -> Part:
    reader = Reader(data)
    if (version := reader.byte()) != VERSION:
        raise Garbled(f"a part of version {version}, this reads {VERSION}")
    window = reader.varint()
    executor_id = reader.text()
    host = reader.text()
    cpu = reader.varint()
    lost_records = reader.varint()
    dropped_parts = reader.varint()
    latencies = tuple(_latencies(reader, window) for _ in range(reader.varint()))
    if reader.left:
        raise Garbled(f"{reader.left} bytes too many")
    return Part(
        window=window,
        executor_id=executor_id,
        host=host,
        host_cpu_permille=cpu - 1 if cpu else None,
        lost_records=lost_records,
        dropped_parts=dropped_parts,
        latencies=latencies,
    )


def _latencies(reader: Reader, window: int) -> Latencies:
    return Latencies(
        query_id=reader.text(),
        window=window - reader.varint(),
        histogram=buckets.read(reader),
    )
