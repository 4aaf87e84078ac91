"""Messages through rings; one that is too large for a ring goes through a file beside them."""

import os
import uuid
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from techniques.pool.chunks import Garbled, Head, Part, packed, size, unpacked
from techniques.pool.osrbuffer.errors import WriterLost
from techniques.pool.osrbuffer.ring import Ring

SPILLED = "spilled"
# A message larger than 1/LARGE of a ring would have to wait until the ring is nearly empty.
LARGE = 4


class Parcel:
    """One message on its way; offered again until there is room for it."""

    def __init__(self, folder: str, head: Head, parts: Sequence[Part]) -> None:
        self.head = head
        self._folder = folder
        self._parts = parts
        self._file: str | None = None

    def offer(self, ring: Ring, timeout_s: float = 0) -> bool:
        """Tries to send; returns False if there was no room in time."""
        if self._file is None and size(self._parts) > ring.limit_bytes // LARGE:
            self._file = self._spilled()
        if self._file is None:
            message = [packed(self.head), *self._parts]
        else:
            message = [packed(self.head._replace(spilled=1)), self._file.encode()]
        try:
            return ring.send(message, timeout_s=timeout_s)
        except WriterLost:
            # The consumer took this process for dead while it was stopped, and skipped the message.
            return False

    def drop(self) -> None:
        """Discards the message, with its spill file if there is one."""
        if self._file is not None:
            with suppress(OSError):
                os.unlink(os.path.join(self._folder, self._file))

    def _spilled(self) -> str:
        # The name contains the owner, so that the files of a dead task can be found.
        name = spill_prefix(self.head.slot, self.head.generation) + uuid.uuid4().hex
        with open(os.path.join(self._folder, name), "xb") as file:
            for part in self._parts:
                file.write(part)
        return name


def opened(folder: str, body: bytes) -> tuple[Head, memoryview]:
    """Returns the head and the body, which may lie in a spill file."""
    head, rest = unpacked(body)
    if not head.spilled:
        return head, rest
    name = bytes(rest).decode(errors="replace")
    if not name.startswith(f"{SPILLED}-") or "/" in name:
        raise Garbled(f"{name!r} is no file of a message")
    path = Path(folder, name)
    try:
        found = path.read_bytes()
    except OSError as fault:
        raise Garbled(f"the message's file is gone: {fault}") from fault
    path.unlink(missing_ok=True)
    return head, memoryview(found)


def spill_prefix(slot: int, generation: int) -> str:
    return f"{SPILLED}-{slot}-{generation}-"
