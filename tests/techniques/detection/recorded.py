"""Traces of real runs: what the traffic jam job sent while it ran in each of its settings.

    python -m tests.techniques.detection.recorded calm 90    records one anew, on a quiet machine

The fault is known because the job was started with it. A trace is what Redis held, encoded as the
collector encodes it: entries of both streams, each with its window's start and its length.
"""

import gzip
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import redis

from collectors.formats import keys
from collectors.formats.keys import Stream
from dashboard.store import Entry
from dashboard.testing.stack import redis_server

HERE = Path(__file__).parent / "recordings"
JOB_ID = "traffic-jam.ranking"
STREAMS = (keys.frames(JOB_ID), keys.activities(JOB_ID))
_HEAD = struct.Struct(">BQI")


def seconds(setting: str) -> Iterator[dict[Stream, list[Entry]]]:
    """The run as the worker would have read it, a second at a time."""
    found: dict[int, dict[Stream, list[Entry]]] = {}
    data = gzip.decompress((HERE / f"{setting}.gz").read_bytes())
    at = 0
    while at < len(data):
        which, at_ms, size = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        news = found.setdefault(at_ms // 1000, {})
        news.setdefault(STREAMS[which], []).append(Entry(at_ms, data[at : at + size]))
        at += size
    for second in sorted(found):
        yield found[second]


def record(setting: str, for_s: str) -> None:
    job = [sys.executable, "-m", "examples.traffic_jam", "--setting", setting, "--seconds", for_s]
    job += ["--disk-mb-s", "125"]
    with redis_server() as server:
        subprocess.run([*job, "--redis", server.url], check=True)
        held: Any = redis.Redis.from_url(server.url)
        streams = [
            [(int(at.split(b"-")[0]), each[keys.PAYLOAD]) for at, each in held.xrange(stream.key)]
            for stream in STREAMS
        ]
        write(setting, streams)


def write(setting: str, streams: Sequence[Sequence[tuple[int, bytes]]]) -> None:
    data = b"".join(
        _HEAD.pack(which, at_ms, len(payload)) + payload
        for which, entries in enumerate(streams)
        for at_ms, payload in entries
    )
    HERE.mkdir(exist_ok=True)
    (HERE / f"{setting}.gz").write_bytes(gzip.compress(data, 9, mtime=0))


if __name__ == "__main__":
    record(*sys.argv[1:])
