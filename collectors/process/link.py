"""Messages from the driver's JVM: four bytes of length, one of kind, the payload.

Written by `probe/link/CollectorProcess.scala` to this process's standard input. The pipe's end is
the application's end. The way back, on standard output, is four bytes of length and an edition of
orders (`collectors.process.agent`).
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import IntEnum
from typing import BinaryIO

# A progress event of hundreds of state partitions is tens of kilobytes.
MAX_PAYLOAD = 16 * 1024 * 1024


class MessageKind(IntEnum):
    # The driver's plugin received an object that is not a part; the payload names its Java class.
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


class Inbox:
    """Splits the bytes read from a pipe into messages; one read may hold many, or half of one."""

    def __init__(self) -> None:
        self._rest = b""

    def messages(self, data: bytes) -> Iterator[Message]:
        """Yields the messages that `data` completes; keeps the rest for the next call."""
        data = self._rest + data
        at = 0
        while len(data) - at >= 5:
            length = _length(data[at : at + 4])
            if len(data) - at < 5 + length:
                break
            yield Message(data[at + 4], data[at + 5 : at + 5 + length])
            at += 5 + length
        self._rest = data[at:]


def write(stream: BinaryIO, edition: bytes) -> None:
    """Sends an edition to the JVM. If the JVM is gone, our input ends too: it is noticed there."""
    with suppress(BrokenPipeError):
        stream.write(len(edition).to_bytes(4, "big") + edition)


def _length(head: bytes) -> int:
    length = int.from_bytes(head, "big")
    if length > MAX_PAYLOAD:
        # The two sides disagree on where a message begins; only a new pipe repairs that.
        raise ConnectionError(f"a message of {length} bytes on the link")
    return length
