"""Which runs fell silent without having said that they ended, and which of those are back. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from collectors.formats.announcement import Announcement
from dashboard.fleet.jobs import RUNNING, STALE, Beat
from dashboard.models import Run

# After Redis or this worker was away, old heartbeats say nothing yet: collectors need a moment to
# find Redis again.
SURE_AFTER_MS = 10_000


@dataclass(frozen=True)
class Losses:
    """Those lost, each with its last heartbeat, and those that are back."""

    lost: tuple[tuple[Run, int], ...] = ()
    back: tuple[Run, ...] = ()


def found(runs: Iterable[Run], announced: Mapping[str, Announcement], now_ms: int) -> Losses:
    """`runs` are the newest of their jobs that have not ended, with their jobs."""
    lost, back = [], []
    for run in runs:
        said = announced.get(run.job_id)
        if said and said.run_id != run.run_id:
            continue  # started anew; its record is on its way
        beat = Beat.newest(run.job, run, said)
        state = beat.state(now_ms)
        if state == STALE and run.lost_ms is None:
            lost.append((run, beat.at_ms))
        elif state == RUNNING and run.lost_ms is not None:
            back.append(run)
    return Losses(tuple(lost), tuple(back))


class Warmup:
    """Whether the store has answered this worker for long enough that old heartbeats mean
    something."""

    def __init__(self) -> None:
        self._since_ms = self._last_ms = 0

    def at(self, now_ms: int) -> bool:
        """Call it whenever the store has answered."""
        if now_ms - self._last_ms > SURE_AFTER_MS:
            self._since_ms = now_ms
        self._last_ms = now_ms
        return now_ms - self._since_ms >= SURE_AFTER_MS

    def reset(self) -> None:
        self._last_ms = 0
