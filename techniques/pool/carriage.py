"""Messages through rings; one that no ring could ever hold goes through a file beside them."""

import os
import uuid
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from techniques.pool.chunks import Garbled, Head, Part, packed, unpacked
from techniques.pool.ring import Ring

SPILLED = "spilled"


class Parcel:
    """One message on its way; offered again until there is room for it."""

    def __init__(self, folder: str, head: Head, parts: Sequence[Part]) -> None:
        self.head = head
        self._folder = folder
        self._parts = parts
        self._file: str | None = None

    def offer(self, ring: Ring, timeout_s: float = 0) -> bool:
        """False when there was no room in time."""
        if self._file is None:
            try:
                return ring.send([packed(self.head), *self._parts], timeout_s=timeout_s)
            except ValueError:
                self._spill()
        assert self._file is not None
        head = self.head._replace(spilled=1)
        return ring.send([packed(head), self._file.encode()], timeout_s=timeout_s)

    def drop(self) -> None:
        """It will not be sent any more."""
        if self._file is not None:
            with suppress(OSError):
                os.unlink(os.path.join(self._folder, self._file))

    def _spill(self) -> None:
        # The owner is in the name, so that what a dead task left can be found.
        name = spill_prefix(self.head.slot, self.head.generation) + uuid.uuid4().hex
        with open(os.path.join(self._folder, name), "xb") as file:
            for part in self._parts:
                file.write(part)
        self._file = name


def opened(folder: str, body: bytes) -> tuple[Head, memoryview]:
    """The head and what follows it, wherever that was put."""
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
