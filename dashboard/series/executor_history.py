"""Which executors a job had and when they joined and left, from the samples in its frames; and what
Spark's scheduler has on each."""

from collections.abc import Iterable
from dataclasses import replace

from collectors.formats.samples import ExecutorSample
from collectors.formats.slots import ExecutorSlots
from collectors.formats.wire import WINDOW_MS
from techniques.view import Executor

# An executor that is missing for a window or two has not left: its part may just be late.
GONE_AFTER_MS = 3_000


class ExecutorHistory:
    def __init__(self) -> None:
        self._there: dict[str, Executor] = {}
        self._seen_ms: dict[str, int] = {}
        self._left: list[Executor] = []
        self._began_ms: int | None = None

    def take(
        self,
        window: int,
        samples: tuple[ExecutorSample, ...],
        slots: Iterable[ExecutorSlots] = (),
    ) -> None:
        now_ms = window * WINDOW_MS
        if samples and self._began_ms is None:
            self._began_ms = now_ms
        for sample in samples:
            if sample.executor_id not in self._there:
                # Executors in the first windows were there before: when they joined is not known.
                began_ms = self._began_ms or now_ms
                joined_ms = now_ms if now_ms - began_ms >= GONE_AFTER_MS else None
                known = Executor(sample.executor_id, sample.host, joined_ms)
                self._there[sample.executor_id] = known
            self._seen_ms[sample.executor_id] = now_ms
        for each in slots:
            if there := self._there.get(each.executor_id):
                told = replace(there, cores=each.cores, leaving=each.leaving)
                self._there[each.executor_id] = told
        if samples:
            self._leave(now_ms)

    def drop_before(self, oldest_ms: float) -> None:
        self._left = [each for each in self._left if (each.left_ms or 0) >= oldest_ms]

    def executors(self) -> tuple[Executor, ...]:
        """All executors: first those that left, in that order, then those present."""
        return (*self._left, *self._there.values())

    def _leave(self, now_ms: int) -> None:
        """Moves out executors not seen lately. Call only with samples: silence is not leaving."""
        for executor_id, seen_ms in list(self._seen_ms.items()):
            if now_ms - seen_ms >= GONE_AFTER_MS:
                gone = replace(self._there.pop(executor_id), left_ms=seen_ms + WINDOW_MS)
                self._left.append(gone)
                del self._seen_ms[executor_id]
