"""Messages from the driver's JVM: four bytes of length, one of kind, the payload.

Written by `probe/Collector.scala` to this process's standard input. The pipe's end is the
application's end.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import BinaryIO

# A progress event of hundreds of state partitions is tens of kilobytes.
MAX_PAYLOAD = 16 * 1024 * 1024


class Kind(IntEnum):
    # The driver's plugin was sent something of this Java class, which is no part.
    FOREIGN = 0
    HELLO = 1
    PART = 2
    QUERY_STARTED = 3
    QUERY_PROGRESS = 4
    QUERY_TERMINATED = 5
    LINK_LOSS = 6
    TASKS = 7
    EXECUTORS = 8
    TRAFFIC = 9


@dataclass(frozen=True)
class Message:
    kind: int
    payload: bytes


def messages(stream: BinaryIO) -> Iterator[Message]:
    while head := _exactly(stream, 5):
        length = int.from_bytes(head[:4], "big")
        if length > MAX_PAYLOAD:
            # The two sides have lost step; only a new pipe puts that right.
            raise ConnectionError(f"a message of {length} bytes on the link")
        payload = _exactly(stream, length) if length else b""
        if payload is None:
            return
        yield Message(head[4], payload)


def _exactly(stream: BinaryIO, length: int) -> bytes | None:
    data = stream.read(length)
    return data if len(data) == length else None
