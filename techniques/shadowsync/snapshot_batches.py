"""Which partitions of a stage write their snapshots in the same batch, from a job's windows.

A store that keeps changelogs (`detection.changelogs`) flushes when a commit writes a snapshot, and
uploads that later. So a snapshot shows as a flush during a commit.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from techniques.detection import latency
from techniques.detection.aftermath import LOUD, SIGNIFICANT
from techniques.detection.changelogs import with_changelogs
from techniques.detection.checkpoints import IN_PHASE_SHARE
from techniques.detection.latency import Rise
from techniques.intervals import Floats, Intervals, Ints
from techniques.model import Conditions, Evidence
from techniques.view import View

# Times reported in milliseconds may be off by this much.
SLACK_MS = 20
FEWEST_TOGETHER = 2


@dataclass(frozen=True, eq=False)
class SnapshotStage:
    """One stateful operator with changelogs. Arrays have one row per snapshot."""

    operator: int
    batch: Ints
    partition: Ints
    rise: Rise | None = None

    @cached_property
    def instances(self) -> int:
        return len(np.unique(self.partition))

    @cached_property
    def share(self) -> float:
        """The share of partitions that snapshot in the same batch, averaged over snapshots."""
        _, which, partitions = np.unique(self.batch, return_inverse=True, return_counts=True)
        return float(partitions[which].mean()) / self.instances

    @cached_property
    def together(self) -> Ints:
        """Batches in which most partitions write a snapshot."""
        batches, partitions = np.unique(self.batch, return_counts=True)
        found: Ints = batches[partitions >= max(2, IN_PHASE_SHARE * self.instances)]
        return found

    @cached_property
    def every(self) -> int | None:
        """The median number of batches from a partition's snapshot to its next."""
        order = np.lexsort((self.batch, self.partition))
        steps = np.diff(self.batch[order])[np.diff(self.partition[order]) == 0]
        return int(np.median(steps)) if len(steps) else None

    @property
    def in_phase(self) -> bool:
        return self.share >= IN_PHASE_SHARE and len(self.together) >= FEWEST_TOGETHER

    @property
    def is_noticed(self) -> bool:
        if not self.in_phase or self.rise is None or self.rise.p_value > SIGNIFICANT:
            return False
        return self.rise.ratio >= LOUD

    @property
    def title(self) -> str:
        turn = f", every {self.every} batches" if self.every else ""
        return (
            f"stage {self.operator}: {self.share:.0%} of {self.instances} state stores write "
            f"their snapshots in the same batch{turn}"
        )

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        said = Evidence("partitions that snapshot in the same batch", f"{self.share:.0%}")
        return (said, *(self.rise.evidence if self.rise and self.is_noticed else ()))


def snapshot_stages(view: View) -> list[SnapshotStage]:
    """Operators with changelogs and snapshots of more than one state store."""
    return view.once(_stages)


def snapshot_conditions(view: View) -> Conditions | None:
    """Whether spreading snapshots would help; None if no operator keeps changelogs."""
    known = snapshot_stages(view)
    if not known:
        return None
    if noticed := next((each for each in known if each.is_noticed), None):
        return Conditions(True, noticed.title)
    if in_phase := next((each for each in known if each.in_phase), None):
        return Conditions(False, f"{in_phase.title}, but p99 is not found to be higher then")
    if any(each.every is None for each in known):
        return Conditions(None, "there were too few snapshots so far")
    return Conditions(False, "the state stores write their snapshots in different batches already")


def _stages(view: View) -> list[SnapshotStage]:
    commits, flushes, batches = view.of("commit"), view.of("flush"), view.of("batch")
    found = []
    for operator in with_changelogs(view) if len(batches) else ():
        written = _during(
            flushes[flushes.operator == operator], commits[commits.operator == operator]
        )
        at, known = _within(written.start_ms, batches)
        stage = _stage(view, batches, operator, at[known], written.partition[known])
        if stage.instances > 1:
            found.append(stage)
    return found


def _stage(
    view: View, batches: Intervals, operator: int, batch: Ints, partition: Ints
) -> SnapshotStage:
    pairs = np.unique(np.column_stack((batch, partition)), axis=0)
    stage = SnapshotStage(operator, pairs[:, 0], pairs[:, 1])
    if not len(pairs) or not stage.in_phase:
        return stage
    is_marked = np.isin(np.arange(len(batches)), stage.together)
    marked, others = (
        view.between(batches.start_ms[which], batches.end_ms[which])
        for which in (is_marked, ~is_marked)
    )
    rise = latency.against(view, marked, others)
    return SnapshotStage(operator, stage.batch, stage.partition, rise)


def _during(flushes: Intervals, commits: Intervals) -> Intervals:
    """Flushes that a commit of the same store waited for."""
    origin = min(float(commits.start_ms.min()), float(flushes.start_ms.min())) - SLACK_MS
    lane = max(float(commits.end_ms.max()), float(flushes.end_ms.max())) - origin + 2 * SLACK_MS
    # Puts all partitions on one axis, each shifted into a range of its own, for one search.
    begins = commits.partition * lane + commits.start_ms - origin
    at = flushes.partition * lane + flushes.start_ms - origin
    order = np.argsort(begins)
    which = np.searchsorted(begins[order], at + SLACK_MS, side="right") - 1
    ends = (begins + commits.duration_ms)[order]
    return flushes[(which >= 0) & (at <= ends[np.maximum(which, 0)] + SLACK_MS)]


def _within(moments_ms: Floats, batches: Intervals) -> tuple[Ints, NDArray[np.bool_]]:
    """The batch of each moment, and whether it has one: a running batch is not known yet."""
    at = np.searchsorted(batches.start_ms, moments_ms, side="right") - 1
    known = (at >= 0) & (moments_ms <= batches.end_ms[np.maximum(at, 0)])
    return at, known
