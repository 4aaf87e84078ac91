"""Who was there: executors that join and leave, told by the samples in a job's frames."""

from dataclasses import replace

from collectors.formats.samples import ExecutorSample
from collectors.formats.wire import WINDOW_MS
from techniques.view import Executor

# A part that comes late leaves an executor out of a window or two: that is not leaving.
GONE_AFTER_MS = 3_000


class ExecutorHistory:
    def __init__(self) -> None:
        self._there: dict[str, Executor] = {}
        self._seen_ms: dict[str, int] = {}
        self._left: list[Executor] = []
        self._began_ms: int | None = None

    def take(self, window: int, samples: tuple[ExecutorSample, ...]) -> None:
        now_ms = window * WINDOW_MS
        if samples and self._began_ms is None:
            self._began_ms = now_ms
        for sample in samples:
            if sample.executor_id not in self._there:
                # Those of the first windows were there before we looked.
                began_ms = self._began_ms or now_ms
                joined_ms = now_ms if now_ms - began_ms >= GONE_AFTER_MS else None
                known = Executor(sample.executor_id, sample.host, joined_ms)
                self._there[sample.executor_id] = known
            self._seen_ms[sample.executor_id] = now_ms
        if samples:
            self._leave(now_ms)

    def drop_before(self, oldest_ms: float) -> None:
        self._left = [each for each in self._left if (each.left_ms or 0) >= oldest_ms]

    def executors(self) -> tuple[Executor, ...]:
        """Those that left first, in that order."""
        return (*self._left, *self._there.values())

    def _leave(self, now_ms: int) -> None:
        """Only windows with samples count: of a job that is silent nobody left."""
        for executor_id, seen_ms in list(self._seen_ms.items()):
            if now_ms - seen_ms >= GONE_AFTER_MS:
                gone = replace(self._there.pop(executor_id), left_ms=seen_ms + WINDOW_MS)
                self._left.append(gone)
                del self._seen_ms[executor_id]
