"""Metrics that executors report once a second, held for the one frame a second that has them."""

from collections.abc import Mapping

from collectors.formats.metrics import SELDOM
from collectors.formats.wire import WINDOW_MS

# A level that was not reported for so long is no longer true: its stores were unloaded.
KEPT_WINDOWS = 3_000 // WINDOW_MS


class SeldomMetrics:
    def __init__(self) -> None:
        # Executor → metric → the window it is of, and its value.
        self._held: dict[str, dict[int, tuple[int, int]]] = {}

    def take(self, executor_id: str, window: int, metrics: Mapping[int, int]) -> Mapping[int, int]:
        """Holds the seldom metrics of a part and returns the others."""
        if SELDOM.isdisjoint(metrics):
            return metrics
        held = self._held.setdefault(executor_id, {})
        for id_ in SELDOM & metrics.keys():
            if held.get(id_, (-1, 0))[0] <= window:
                held[id_] = (window, metrics[id_])
        return {id_: value for id_, value in metrics.items() if id_ not in SELDOM}

    def of(self, executor_id: str, window: int) -> dict[int, int]:
        """Returns what is still true of the executor at the window's end."""
        held = self._held.get(executor_id, {})
        return {id_: v for id_, (told, v) in held.items() if window - told <= KEPT_WINDOWS}

    def forget(self, executor_id: str) -> None:
        self._held.pop(executor_id, None)
