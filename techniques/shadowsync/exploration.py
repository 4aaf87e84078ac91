"""Looking for the knee of compaction threads, from one look at the job to the next.

Time is that of the job's windows, state is a value, and it can be written down: whoever looks next
may be another process.

    WAITING ──▶ EXPLORING ──▶ OVER
       │            └───────▶ WITHDRAWN
       └────────────────────▶ OVER

Levels that the job shows by itself may be enough. If not, each of a few thread counts is tried for
a minute, in *act* only; what was seen under all of them makes one curve. It is over once a knee is
found, every step was taken, or what it was done for is gone. It is not done again in the same run
of the job. Where the job itself refused to go on, nothing is changed any more.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any

from techniques.shadowsync.knee import Knee, Pairs, knee, pairs, together
from techniques.view import View

# Under which a decision remembers it.
MEMORY = "compaction_threads"
STEP_MS = 60_000
# What else was changed gets so long to take the compactions apart: as far as a view reaches back.
OTHERS_FIRST_MS = 120_000


class State(StrEnum):
    WAITING = "waiting"
    EXPLORING = "exploring"
    OVER = "over"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True)
class Exploration:
    """`knee` is None until there is one. `steps` are from the fewest to the most threads."""

    run: str
    state: State
    since_ms: int  # of the state, while exploring of the step
    steps: tuple[int, ...] = ()
    step: int = 0
    seen: Pairs = field(default_factory=dict)
    knee: int | None = None
    why: str = ""

    @property
    def threads(self) -> int:
        """What is to be set now; 0: as they are."""
        if self.state is State.EXPLORING:
            return self.steps[self.step]
        return 0 if self.knee is None else min(max(self.knee, self.steps[0]), self.steps[-1])

    @property
    def until_ms(self) -> int:
        return self.since_ms + STEP_MS

    def curve(self, view: View) -> Pairs:
        """All that is known by now. What is over is known from what was seen then."""
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
        """None of a memory without one, or with one of another version."""
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
    """Each twice the one before: with n threads up to n compactions run at once, so that all
    levels are seen on the way."""
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
    """The next state; the same one where nothing has changed. `others` says that something else was
    changed against the same trouble."""
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
    """What was seen until then may be enough."""
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
        # Nobody looked for so long that most of the step was not seen, and the job let go of it.
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
