from collections.abc import Mapping, Sequence
from typing import Protocol

from collectors.formats.announcement import Announcement
from collectors.formats.keys import Entry, Stream

__all__ = ["Entry", "Store", "StoreUnavailable"]


class StoreUnavailable(Exception):
    """The store does not answer now; it may again."""


class Store(Protocol):
    """Every method may raise `StoreUnavailable`, and nothing else."""

    async def announcements(self) -> Sequence[Announcement]:
        """The announcements of all jobs, in no order; unreadable ones are left out."""

    async def running(self, since_ms: int) -> Sequence[str]:
        """Jobs that have not ended with a heartbeat at `since_ms` or later, in no order. Cheaper
        than `announcements`."""

    async def entries(self, stream: Stream, start_ms: int, end_ms: int) -> Sequence[Entry]:
        """The entries with start_ms ≤ at_ms < end_ms, oldest first; none for unknown jobs."""

    async def newest_ms(self, stream: Stream) -> int:
        """The time of the stream's newest entry, -1 if it has none."""

    async def newest(self, streams: Sequence[Stream]) -> Mapping[Stream, Entry]:
        """The newest entry of each, in one round trip; streams without any are left out."""

    async def at(self, times_ms: Mapping[Stream, int]) -> Mapping[Stream, Entry]:
        """The entry of each at exactly its time, in one round trip; those without are left out."""

    async def follow(
        self, after_ms: Mapping[Stream, int], wait_ms: int
    ) -> Mapping[Stream, Sequence[Entry]]:
        """Entries after the given times, waiting up to `wait_ms` for the first of them.

        Streams without news are left out.
        """

    async def put_control(self, job_id: str, document: bytes) -> None:
        """Replaces the job's control document (`collectors.formats.control`)."""

    async def put_cards(self, job_id: str, computed: bytes, lasting_s: int) -> None:
        """Replaces what the worker computed for the job's technique cards."""

    async def cards(self, job_id: str) -> bytes | None:
        """What the worker computed last; None if there is nothing or it has expired."""

    async def want_cards(self, job_id: str, lasting_s: int) -> None:
        """Marks the job's cards as wanted by a browser for `lasting_s`."""

    async def wanted_cards(self) -> Sequence[str]:
        """Jobs whose cards are wanted now by the store's clock, in no order."""

    async def count(self, names: Sequence[str], by: int, lasting_s: int) -> Sequence[int]:
        """Adds `by` to each counter, returns the new values and keeps them for `lasting_s`."""

    async def beat(self, lasting_s: int) -> None:
        """Records a heartbeat of a worker, valid for `lasting_s`."""

    async def beaten(self) -> bool:
        """Whether a worker's heartbeat is valid, by the store's clock: hosts' clocks differ."""

    async def hold(self, owner: str, shards: int, lasting_ms: int) -> Mapping[int, int]:
        """Leases the owner's share of the shards; returns since when it has each (store's clock).

        It keeps the shards that it has, up to its fair share among the living owners, and takes
        free ones. The leases last `lasting_ms` from now; no other owner gets them meanwhile."""

    async def let_go(self, owner: str) -> None:
        """Releases the owner's shards, so that others can take them immediately."""

    async def lease(self, name: str, owner: str, lasting_ms: int) -> bool:
        """Takes or renews a lease for `lasting_ms`; False if another owner has it."""

    async def tell_looked(self, windows_ms: Mapping[str, int], failures: Mapping[str, str]) -> None:
        """Records per job the newest window that was examined for incidents, and why its data
        could not be read (empty if it could)."""

    async def looked(self) -> Mapping[str, int]:
        """The newest examined window of each job that was examined within the last day."""

    async def failing(self) -> Mapping[str, str]:
        """Jobs whose data cannot be read, each with the latest reason."""

    async def close(self) -> None:
        """Frees connections; the store can be used again afterwards."""
