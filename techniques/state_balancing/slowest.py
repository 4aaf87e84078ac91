"""The executor whose stateful tasks are done latest, waiting included, and whether that is chance.

Held against chance: the rank-sum test over stages, times the number of executors, because the
slowest of them is the one that is looked at.
"""

from dataclasses import dataclass

import numpy as np

from techniques.detection import chance
from techniques.model import Evidence
from techniques.state_balancing.algorithm import THRESHOLD
from techniques.state_balancing.cluster import changes
from techniques.state_balancing.stages import Stage, stateful
from techniques.view import View

SIGNIFICANT = 1e-3
# With fewer stages since the last move, those before it are counted too.
FEWEST_STAGES = 5


@dataclass(frozen=True)
class Slowest:
    """`ratio` is the median over stages of the executor's mean sojourn against the others'."""

    executor: str
    ratio: float
    stages: int
    p_value: float

    @property
    def is_slow(self) -> bool:
        return self.ratio > THRESHOLD and self.p_value <= SIGNIFICANT

    @property
    def says(self) -> str:
        return (
            f"stateful tasks on executor {self.executor} are done after {self.ratio:.1f} × the "
            f"time of those on the others, waiting included (p = {self.p_value:.2g} that equal "
            f"executors differ so over {self.stages} stages)"
        )

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        return (
            Evidence(f"sojourn on executor {self.executor}", f"{self.ratio:.2f} × the others'"),
            Evidence("stages compared", str(self.stages)),
            Evidence("p-value: equal executors would differ so (rank sum)", f"{self.p_value:.2g}"),
        )


def slowest(view: View) -> Slowest | None:
    """By the stages since a partition last moved. None where fewer than two executors have been
    seen with state."""
    means: dict[str, list[float]] = {}
    for stage in _of_this_placement(view):
        if len(stage.relative_sojourns) > 1:
            for executor, mean in stage.relative_sojourns.items():
                means.setdefault(executor, []).append(mean)
    if len(means) < 2:
        return None
    found = []
    for executor, own in means.items():
        others = [mean for name, each in means.items() if name != executor for mean in each]
        ratio = float(np.median(own) / np.median(others))
        found.append((ratio, executor, np.array(own), np.array(others)))
    ratio, executor, these, rest = max(found, key=lambda each: (each[0], each[1]))
    p_value = min(1.0, len(means) * chance.rank_sum(these, rest))
    return Slowest(executor, ratio, len(these), p_value)


def _of_this_placement(view: View) -> list[Stage]:
    moved_ms = max((each.at_ms for each in changes(view).values()), default=0.0)
    # The stage in which a partition came has loaded its state.
    since = [stage for stage in stateful(view) if stage.start_ms > moved_ms]
    return since if len(since) >= FEWEST_STAGES else stateful(view)
