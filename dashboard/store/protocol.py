from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from collectors.formats.announcement import Announcement
from collectors.formats.keys import Stream


class StoreUnavailable(Exception):
    """The store does not answer now; it may again."""


@dataclass(frozen=True)
class Entry:
    """One entry of a stream, not decoded: what cannot be read is the reader's to count."""

    at_ms: int
    payload: bytes


class Store(Protocol):
    """Every method may raise `StoreUnavailable`, and nothing else."""

    async def announcements(self) -> Sequence[Announcement]:
        """What all jobs say of themselves, in no order; unreadable ones are left out."""

    async def running(self, since_ms: int) -> Sequence[str]:
        """Jobs whose heartbeat is of then or later and that did not end, in no order. Cheaper than
        all that they say of themselves."""

    async def entries(self, stream: Stream, start_ms: int, end_ms: int) -> Sequence[Entry]:
        """Those with start_ms ≤ at_ms < end_ms, oldest first; none of unknown jobs."""

    async def newest_ms(self, stream: Stream) -> int:
        """When the stream's newest entry is of, -1 where it has none."""

    async def newest(self, streams: Sequence[Stream]) -> Mapping[Stream, Entry]:
        """The newest entry of each, in one round trip; streams without any are left out."""

    async def follow(
        self, after_ms: Mapping[Stream, int], wait_ms: int
    ) -> Mapping[Stream, Sequence[Entry]]:
        """Entries after the given times, waiting up to `wait_ms` for the first of them.

        Streams without news are left out.
        """

    async def put_control(self, job_id: str, document: bytes) -> None:
        """What is asked of the job (`collectors.formats.control`), in place of what was."""

    async def put_cards(self, job_id: str, computed: bytes, lasting_s: int) -> None:
        """What the worker computed for the job's technique cards, in place of what was."""

    async def cards(self, job_id: str) -> bytes | None:
        """What the worker computed last, None where it did not or that was too long ago."""

    async def want_cards(self, job_id: str, lasting_s: int) -> None:
        """Somebody looks at the job's cards; that holds for so long."""

    async def wanted_cards(self) -> Sequence[str]:
        """Jobs whose cards somebody looks at, in no order. By the store's clock."""

    async def count(self, names: Sequence[str], by: int, lasting_s: int) -> Sequence[int]:
        """Adds to each counter, tells where it is now, and keeps it for so long from now."""

    async def beat(self, lasting_s: int) -> None:
        """A worker says that it works; that holds for so long."""

    async def beaten(self) -> bool:
        """Whether a worker's word still holds. By the store's clock: hosts' clocks differ."""

    async def hold(self, owner: str, shards: int, lasting_ms: int) -> Mapping[int, int]:
        """The owner's share of so many shards, each with when it got it (by the store's clock).

        What it has it keeps, up to its fair share among the owners that live; what nobody has it
        takes. It holds for `lasting_ms` from now, and nobody else has any of it meanwhile."""

    async def let_go(self, owner: str) -> None:
        """Others may have at once what the owner holds."""

    async def tell_looked(self, windows_ms: Mapping[str, int], failures: Mapping[str, str]) -> None:
        """By job, the newest window that was looked at for incidents; and why its data could not be
        read, empty where it could."""

    async def looked(self) -> Mapping[str, int]:
        """What was told of each job that was looked at within the last day."""

    async def failing(self) -> Mapping[str, str]:
        """Jobs whose data cannot be read, each with the reason that was told last."""

    async def close(self) -> None:
        """Frees connections; the store can be used again afterwards."""
