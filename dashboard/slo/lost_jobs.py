"""Which runs fell silent without reporting their end, and which of those are back. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from collectors.formats.announcement import Announcement
from dashboard.fleet.jobs import RUNNING, STALE, Beat
from dashboard.models import Run

# After an outage of Redis or of this worker an old heartbeat does not mean a lost job yet:
# collectors need a moment to reconnect.
SURE_AFTER_MS = 10_000


@dataclass(frozen=True)
class Losses:
    """The runs that were lost, each with its last heartbeat, and the runs that are back."""

    lost: tuple[tuple[Run, int], ...] = ()
    back: tuple[Run, ...] = ()


def found(runs: Iterable[Run], announced: Mapping[str, Announcement], now_ms: int) -> Losses:
    """`runs`: the newest run of each job if it has not ended, with its job loaded."""
    lost, back = [], []
    for run in runs:
        said = announced.get(run.job_id)
        if said and said.run_id != run.run_id:
            continue  # the job was restarted; the row of its new run will follow
        beat = Beat.newest(run.job, run, said)
        state = beat.state(now_ms)
        if state == STALE and run.lost_ms is None:
            lost.append((run, beat.at_ms))
        elif state == RUNNING and run.lost_ms is not None:
            back.append(run)
    return Losses(tuple(lost), tuple(back))


class Warmup:
    """Whether the store has answered this worker for long enough to trust old heartbeats."""

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
