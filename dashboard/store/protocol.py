from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from collectors.announcement import Announcement


class StoreUnavailable(Exception):
    """The store does not answer now; it may again."""


@dataclass(frozen=True)
class StoredFrame:
    """One entry of a job's stream, not decoded: what cannot be read is the reader's to count."""

    start_ms: int
    payload: bytes


class FrameStore(Protocol):
    """Every method may raise `StoreUnavailable`, and nothing else."""

    async def announcements(self) -> Sequence[Announcement]:
        """What all jobs say of themselves, in no order; unreadable ones are left out."""

    async def frames(self, job_id: str, start_ms: int, end_ms: int) -> Sequence[StoredFrame]:
        """The job's frames with start_ms ≤ start < end_ms, oldest first; none for unknown jobs."""

    async def newest_ms(self, job_id: str) -> int:
        """Start of the job's newest frame, -1 where it has none."""

    async def follow(
        self, after_ms: Mapping[str, int], wait_ms: int
    ) -> Mapping[str, Sequence[StoredFrame]]:
        """Frames after the given starts, per job, waiting up to `wait_ms` for the first of them.

        Jobs without news are left out.
        """

    async def close(self) -> None:
        """Frees connections; the store can be used again afterwards."""
