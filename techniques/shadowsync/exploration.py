"""The search for the knee of compaction threads, step by step over calls of the controller.

Time is that of the job's windows. The state is a value that can be stored: the next call may come
from another process.

    WAITING ──▶ EXPLORING ──▶ OVER
       │            └───────▶ WITHDRAWN
       └────────────────────▶ OVER

The numbers of compactions at once that occur anyway may be enough for a curve. If not, each of a
few thread counts is tried for a minute, in *act* only; the windows of all of them make one curve.
The search is over once a knee is found, every step was taken, or the ShadowSync is gone. It is not
repeated in the same run of the job. If the job refuses a step, nothing is changed any more.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any

from techniques.shadowsync.knee import Knee, Pairs, knee, pairs, together
from techniques.view import View

# The key of the search in the memory of a decision.
MEMORY = "compaction_threads"
STEP_MS = 60_000
# Other changes get this long to desynchronise the compactions before threads are tried: as long as
# a view reaches back.
OTHERS_FIRST_MS = 120_000


class State(StrEnum):
    WAITING = "waiting"
    EXPLORING = "exploring"
    OVER = "over"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True)
class Exploration:
    """`knee` is None until it is found. `steps` are thread counts from the fewest to the most."""

    run: str
    state: State
    since_ms: int  # when the state began; while exploring, the step
    steps: tuple[int, ...] = ()
    step: int = 0
    seen: Pairs = field(default_factory=dict)
    knee: int | None = None
    why: str = ""

    @property
    def threads(self) -> int:
        """The number of threads to set now; 0 leaves it unchanged."""
        if self.state is State.EXPLORING:
            return self.steps[self.step]
        return 0 if self.knee is None else min(max(self.knee, self.steps[0]), self.steps[-1])

    @property
    def until_ms(self) -> int:
        return self.since_ms + STEP_MS

    def curve(self, view: View) -> Pairs:
        """Merges the finished steps (from memory) with the one that is running."""
        if self.state is State.WAITING:
            return pairs(view)
        if self.state is State.EXPLORING:
            return together(self.seen, pairs(view, self.since_ms))
        return self.seen

    def as_memory(self) -> dict[str, Any]:
        seen = {str(level): list(values) for level, values in self.seen.items()}
        plain = {"state": str(self.state), "steps": list(self.steps), "seen": seen}
        return {MEMORY: {**asdict(self), **plain}}

    @staticmethod
    def of(memory: Mapping[str, Any]) -> "Exploration | None":
        """Returns None if the memory has no search, or one of another version."""
        held = memory.get(MEMORY)
        if not isinstance(held, Mapping):
            return None
        try:
            plain = {
                "state": State(held["state"]),
                "steps": tuple(held["steps"]),
                "seen": {int(level): values for level, values in held["seen"].items()},
            }
            return Exploration(**{**held, **plain})
        except (KeyError, TypeError, ValueError, AttributeError):
            return None


def steps(fewest: int, most: int) -> tuple[int, ...]:
    """The thread counts to try, each twice the one before. With n threads up to n compactions run
    at once, so all levels in between occur as well."""
    doubled = []
    while fewest < most:
        doubled.append(fewest)
        fewest *= 2
    return (*doubled, most)


def begun(run: str, view: View) -> Exploration:
    return Exploration(run, State.WAITING, view.end_ms)


def looked(
    before: Exploration, view: View, steps: tuple[int, ...], may_act: bool, others: bool
) -> Exploration:
    """Returns the next state, or the same one if nothing has changed. `others` says whether another
    mitigation of the same ShadowSync was switched on."""
    match before.state:
        case State.WAITING:
            return _waited(before, view, steps, may_act, others)
        case State.EXPLORING:
            return _explored(before, view)
        case State.OVER | State.WITHDRAWN:
            return before


def refused(before: Exploration, why: str) -> Exploration:
    return replace(before, state=State.WITHDRAWN, why=why)


def ended(before: Exploration, view: View, because: str) -> Exploration:
    """Ends the search early. What was seen by then may be enough for a knee."""
    seen = before.curve(view)
    found = knee(seen)
    done = f"step {before.step + 1} of {len(before.steps)}"
    why = found.why if found.at else f"{because} in {done}, and {found.why}"
    return _over(before, view, seen, replace(found, why=why))


def _waited(
    before: Exploration, view: View, steps: tuple[int, ...], may_act: bool, others: bool
) -> Exploration:
    seen = pairs(view)
    found = knee(seen)
    if found.at:
        return _over(replace(before, steps=steps), view, seen, found)
    if found.is_spread or not may_act:
        return before
    if others and view.end_ms - before.since_ms < OTHERS_FIRST_MS:
        return before
    return replace(before, state=State.EXPLORING, since_ms=view.end_ms, steps=steps, seen=seen)


def _explored(before: Exploration, view: View) -> Exploration:
    if view.start_ms > before.since_ms + STEP_MS / 2:
        # The controller did not run for so long that it missed most of the step, and the lease of
        # its settings has ended meanwhile: the step starts again.
        return replace(before, since_ms=view.end_ms)
    if view.end_ms < before.until_ms:
        return before
    seen = before.curve(view)
    if before.step + 1 < len(before.steps):
        return replace(before, since_ms=view.end_ms, step=before.step + 1, seen=seen)
    found = knee(seen)
    return _over(before, view, seen, found)


def _over(before: Exploration, view: View, seen: Pairs, found: Knee) -> Exploration:
    return replace(
        before, state=State.OVER, since_ms=view.end_ms, seen=seen, knee=found.at, why=found.why
    )
