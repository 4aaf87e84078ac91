"""What the tasks of the last period say: the input of every decision on copies."""

from dataclasses import dataclass
from math import inf

import numpy as np

from techniques.model import Evidence, Options
from techniques.task_copies.attempts import (
    Copies,
    Kind,
    Task,
    copies,
    kinds,
    share_known,
    tasks_of,
)
from techniques.task_copies.left_out import reason
from techniques.task_copies.technique import MOST_KINDS
from techniques.view import WINDOW_MS, View

# A share of known tasks below this is said: then only the slowest of each window are told.
FEW_KNOWN = 0.5


@dataclass(frozen=True)
class Seen:
    """`fit` are the kinds of stages that may be copied, the longest tail first; `left_out` says of
    the others why not. `waiting` is the share of windows at whose end a task waited for a slot."""

    period_s: float
    tasks: tuple[Task, ...]
    fit: tuple[Kind, ...]
    left_out: dict[Kind, str]
    copies: Copies
    waiting: float
    share_known: float

    @property
    def is_too_little(self) -> bool:
        return not (self.fit or self.left_out)

    @property
    def tail(self) -> Kind | None:
        """The kind with the longest tail, if that is a long one."""
        return self.fit[0] if self.fit and self.fit[0].durations.has_tail else None

    @property
    def is_stateful(self) -> bool:
        return any(kind.stateful for kind in (*self.fit, *self.left_out))

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        found = [Evidence("left out", why) for why in self.left_out.values()]
        found.append(Evidence(f"copies in the last {self.period_s:g} s", str(self.copies)))
        found.append(Evidence("tasks wait for a slot", f"{self.waiting:.0%} of the time"))
        if self.share_known < FEW_KNOWN:
            said = (
                f"{self.share_known:.0%} at most: with so many only the slowest are told, so that "
                f"timeouts are too long rather than too short"
            )
            found.append(Evidence("tasks known", said))
        return tuple(found)


def seen(view: View, options: Options) -> Seen:
    period_s = float(options["period"])
    tasks = tasks_of(view.tasks, max(view.start_ms, view.end_ms - period_s * 1000))
    known = sorted(kinds(tasks), key=_by_tail)[:MOST_KINDS]
    reasons = {kind: reason(kind, view.sink, options) for kind in known}
    return Seen(
        period_s,
        tasks=tuple(tasks),
        fit=tuple(kind for kind, why in reasons.items() if not why),
        left_out={kind: why for kind, why in reasons.items() if why},
        copies=copies(tasks),
        waiting=_waiting(view, round(period_s * 1000 / WINDOW_MS)),
        share_known=share_known(tasks),
    )


def _by_tail(kind: Kind) -> tuple[bool, float]:
    durations = kind.durations
    p90 = durations.at(900)
    return not durations.has_tail, -durations.at(990) / p90 if 0 < p90 < inf else 0.0


def _waiting(view: View, windows: int) -> float:
    recent = view.waiting_tasks[-windows:]
    known = recent[~np.isnan(recent)]
    return float((known > 0).mean()) if len(known) else 0.0
