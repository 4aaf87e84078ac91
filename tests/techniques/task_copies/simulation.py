"""Stages with stragglers on a simulated cluster, with the lever's rules: a task older than the
timeout gets one copy, and copies' task time stays within the budget over the last minute.

There is a free slot for every copy: by the time of the timeout most tasks of the batch are done.
"""

from collections import deque
from dataclasses import dataclass, field
from random import Random

from tests.techniques.task_copies.views import Row, overtaken

MINUTE_MS = 60_000


@dataclass(frozen=True)
class Workload:
    """A batch a second. A straggler takes `times` as long; its copy is an ordinary task."""

    tasks: int = 24
    usual_ms: float = 80.0
    spread: float = 0.15
    stragglers: float = 0.02
    times: float = 8.0

    def first_ms(self, random: Random) -> float:
        slow = self.times if random.random() < self.stragglers else 1.0
        return self.copy_ms(random) * slow

    def copy_ms(self, random: Random) -> float:
        return self.usual_ms * random.lognormvariate(0, self.spread)


@dataclass
class Cluster:
    workload: Workload
    random: Random
    timeout_ms: float | None = None
    cost_ms: float = 0.0
    budget_percent: float = 5.0
    rows: list[Row] = field(default_factory=list)
    makespans_ms: list[float] = field(default_factory=list)
    copies_ms: float = 0.0
    task_ms: float = 0.0
    # When, and how much task time of all attempts and of copies.
    _last_minute: deque[tuple[float, float, float]] = field(default_factory=deque)

    def batch(self) -> None:
        number = len(self.makespans_ms)
        longest_ms = 0.0
        for partition in range(self.workload.tasks):
            row = Row(
                start_ms=number * 1_000.0,
                end_ms=number * 1_000.0 + self.workload.first_ms(self.random),
                stage=number,
                partition=partition,
                executor=str(partition % 3 + 1),
            )
            attempts = self._attempts(row)
            self.rows += attempts
            done_ms = next(each.end_ms for each in attempts if each.successful)
            longest_ms = max(longest_ms, done_ms - row.start_ms)
        self.makespans_ms.append(longest_ms)

    def _attempts(self, row: Row) -> list[Row]:
        """The task, and its copy if it got one: whichever ends first counts."""
        duration_ms = row.end_ms - row.start_ms
        timeout_ms = self.timeout_ms
        if timeout_ms is None or duration_ms <= timeout_ms or not self._affords(row.start_ms):
            self._spend(row.start_ms, duration_ms, 0.0)
            return [row]
        copy_ms = self.workload.copy_ms(self.random)
        if timeout_ms + copy_ms < duration_ms:
            self._spend(row.start_ms, timeout_ms + 2 * copy_ms, copy_ms)
            return overtaken(row, timeout_ms, copy_ms)
        lost_ms = duration_ms - timeout_ms
        self._spend(row.start_ms, duration_ms + lost_ms, lost_ms)
        copy = Row(
            start_ms=row.end_ms - lost_ms,
            end_ms=row.end_ms + 1,
            stage=row.stage,
            partition=row.partition,
            executor="4",
            attempt=1,
            speculative=True,
            successful=False,
        )
        return [row, copy]

    def _affords(self, now_ms: float) -> bool:
        while self._last_minute and self._last_minute[0][0] < now_ms - MINUTE_MS:
            self._last_minute.popleft()
        task_ms = sum(each[1] for each in self._last_minute)
        copies_ms = sum(each[2] for each in self._last_minute)
        return (copies_ms + self.cost_ms) * 100 <= self.budget_percent * task_ms

    def _spend(self, now_ms: float, task_ms: float, copies_ms: float) -> None:
        self._last_minute.append((now_ms, task_ms, copies_ms))
        self.task_ms += task_ms
        self.copies_ms += copies_ms
