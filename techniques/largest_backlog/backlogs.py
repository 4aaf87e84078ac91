"""Outgoing backlogs of sibling instances: results that wait to be sent on."""

from dataclasses import dataclass

import numpy as np

from techniques.model import Evidence
from techniques.pool.controllers.loads import Siblings, families, since_ms
from techniques.view import WINDOW_MS, View

# In fewer windows with a backlog than this (a second's worth) it is nothing that lasts.
FEWEST_WINDOWS = 1_000 // WINDOW_MS
UNEVEN = 1.5


@dataclass(frozen=True, eq=False)
class Backlog:
    """Over the windows in which any of the siblings had one: their mean in all, that of the
    instance with the largest, and Jain's index of fairness F = (ΣB)² / (N · ΣB²), 1 is even."""

    siblings: Siblings
    windows: int
    of: int
    mean: float
    largest: float
    largest_at: str
    jain: float

    @property
    def ratio(self) -> float:
        return self.largest / self.mean if self.mean > 0 else 1.0

    @property
    def is_uneven(self) -> bool:
        return self.windows >= FEWEST_WINDOWS and self.ratio >= UNEVEN

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        return (
            Evidence("windows with an outgoing backlog", f"{self.windows} of {self.of}"),
            Evidence("outgoing backlog", f"{self.mean:.1f} chunks per instance on average"),
            Evidence("largest", f"{self.largest:.1f} chunks at {self.largest_at}"),
            Evidence("Jain's index of fairness (1 is even)", f"{self.jain:.2f}"),
        )


def worst(view: View) -> Backlog | None:
    """The most uneven family; None where no operator has several instances on a host."""
    several = [each for each in families(view) if len(each.instances) > 1]
    found = [_backlog(view, each) for each in several]
    return max(found, key=lambda each: (each.is_uneven, each.windows, each.ratio), default=None)


def _backlog(view: View, siblings: Siblings) -> Backlog:
    windows = int((view.end_ms - since_ms(view)) // WINDOW_MS)
    parked = np.nan_to_num(np.array([each.parked[-windows:] for each in siblings.instances]))
    waits = parked.sum(axis=0) > 0
    means = parked[:, waits].mean(axis=1) if waits.any() else np.zeros(len(parked))
    at = int(means.argmax())
    squares = float((means**2).sum())
    return Backlog(
        siblings=siblings,
        windows=int(waits.sum()),
        of=windows,
        mean=float(means.mean()),
        largest=float(means[at]),
        largest_at=siblings.instances[at].name,
        jain=float(means.sum()) ** 2 / (len(means) * squares) if squares else 1.0,
    )
