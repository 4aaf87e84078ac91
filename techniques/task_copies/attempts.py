"""The attempts of a job's tasks: durations by the place of the stage in its batch, and what copies
did."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple

import numpy as np

from techniques.durations import said
from techniques.intervals import NONE
from techniques.task_copies.algorithm import Durations
from techniques.view import Tasks

# With fewer tasks of a stage its percentiles say nothing.
FEWEST_TASKS = 20


class Attempt(NamedTuple):
    start_ms: float
    end_ms: float
    speculative: bool
    successful: bool

    @property
    def duration_ms(self) -> float:
        return self.end_ms - self.start_ms


@dataclass(frozen=True)
class Task:
    """One partition of a stage, with its originals and their copies in the order of their ends."""

    kind: int
    stage: int
    partition: int
    stateful: bool
    result: bool
    attempts: list[Attempt] = field(default_factory=list)

    @property
    def winner(self) -> Attempt | None:
        return next((each for each in self.attempts if each.successful), None)

    @property
    def overtaken(self) -> list[Attempt]:
        """The attempts that did not succeed and still ran when the winner had begun. One that had
        failed before was not overtaken: the winner is its retry."""
        if (winner := self.winner) is None:
            return []
        return [
            each for each in self.attempts if not each.successful and winner.start_ms < each.end_ms
        ]


@dataclass(frozen=True, eq=False)
class Kind:
    """The tasks of the same stage of every batch; `number` is its place in the batch, from 0."""

    number: int
    stateful: bool
    result: bool
    durations: Durations

    @property
    def title(self) -> str:
        return f"stage {self.number + 1}"

    @property
    def percentiles(self) -> str:
        rest = ", ".join(
            f"{name} {self._said(per_mille)}"
            for name, per_mille in (("p90", 900), ("p95", 950), ("p99", 990), ("p99.9", 999))
        )
        return f"p50 {said(self.durations.median_ms)}, {rest}"

    def _said(self, per_mille: int) -> str:
        """A percentile among overtaken tasks is only known to be above the shortest of them."""
        found = self.durations.at(per_mille)
        if found < inf:
            return said(found)
        return f"more than {said(min(self.durations.overtaken_ms))}"


@dataclass(frozen=True)
class Copies:
    """Copies that ended, and how many of them came first. Wasted is the time of all attempts,
    copies or not, that were overtaken by another."""

    made: int
    won: int
    wasted_ms: float
    task_ms: float

    def __str__(self) -> str:
        share = self.wasted_ms / self.task_ms if self.task_ms else 0.0
        return (
            f"{self.made} made, {self.won} came first, {said(self.wasted_ms)} of task time "
            f"wasted ({share:.1%})"
        )


def tasks_of(tasks: Tasks, since_ms: float) -> list[Task]:
    """The tasks of a streaming query of which an attempt ended since then."""
    # Ends ascend, so what is recent is last.
    first = int(np.searchsorted(tasks.end_ms, since_ms))
    columns = (
        tasks.kind,
        tasks.stage,
        tasks.stage_attempt,
        tasks.partition,
        tasks.stateful,
        tasks.result,
        tasks.start_ms,
        tasks.end_ms,
        tasks.speculative,
        tasks.successful,
    )
    found: dict[tuple[int, int, int], Task] = {}
    for row in zip(*(column[first:].tolist() for column in columns), strict=True):
        kind, stage, stage_attempt, partition, stateful, result, *attempt = row
        if kind == NONE:
            continue
        key = (stage, stage_attempt, partition)
        if key not in found:
            found[key] = Task(kind, stage, partition, stateful, result)
        found[key].attempts.append(Attempt(*attempt))
    return list(found.values())


def kinds(tasks: Iterable[Task]) -> list[Kind]:
    """The kinds of which enough tasks are known, in the order of their stages in a batch."""
    by_kind: dict[int, list[Task]] = {}
    for task in tasks:
        by_kind.setdefault(task.kind, []).append(task)
    found = (_kind(number, held) for number, held in sorted(by_kind.items()))
    return [each for each in found if len(each.durations) >= FEWEST_TASKS]


def copies(tasks: Iterable[Task]) -> Copies:
    tasks = list(tasks)
    attempts = [each for task in tasks for each in task.attempts]
    made = [each for each in attempts if each.speculative]
    return Copies(
        made=len(made),
        won=sum(each.successful for each in made),
        wasted_ms=sum(each.duration_ms for task in tasks for each in task.overtaken),
        task_ms=sum(each.duration_ms for each in attempts),
    )


def share_known(tasks: Iterable[Task]) -> float:
    """The share of tasks that are known, at most: a stage has a task for each partition up to the
    highest. Of more than 200 a second only the slowest of each window are known."""
    partitions: dict[int, set[int]] = {}
    for task in tasks:
        partitions.setdefault(task.stage, set()).add(task.partition)
    there = sum(max(each) + 1 for each in partitions.values())
    return sum(map(len, partitions.values())) / there if there else 1.0


def _kind(number: int, tasks: list[Task]) -> Kind:
    """Copies are left out of the durations: they are of slow tasks only, and run elsewhere."""
    winners = (task.winner for task in tasks)
    overtaken = (each for task in tasks for each in task.overtaken)
    return Kind(
        number,
        stateful=any(task.stateful for task in tasks),
        result=any(task.result for task in tasks),
        durations=Durations(
            tuple(each.duration_ms for each in winners if each and not each.speculative),
            tuple(each.duration_ms for each in overtaken if not each.speculative),
        ),
    )
