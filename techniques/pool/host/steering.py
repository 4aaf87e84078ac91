"""What the supervisor computes for its pool by itself, because a loop through Redis is too slow:
the timeout after which chunks are replayed, the signals of who may send, the mean of weights."""

import time
from collections.abc import Sequence

from techniques.adaptive_timeout.algorithm import percentile, timeout
from techniques.largest_backlog.algorithm import signals
from techniques.pool import settings
from techniques.pool.page import SERVES, Page
from techniques.pool.page_words import HeaderWord, InstanceWord, SlotWord
from techniques.pool.settings import Replay

HEDGE_PER_MILLE = 950


class Timeouts:
    """Algorithm 1 over the latencies of all tasks; a period without any keeps the last timeout."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._seen = [0] * page.slots
        self._latencies_us: list[int] = []
        self._began_s: float | None = None

    def look(self, now_s: float) -> None:
        page = self._page
        mode = page.setting(settings.REPLAY)
        self._collect()
        if mode not in (Replay.ADAPTIVE, Replay.HEDGE):
            self._began_s = None
            page.words[HeaderWord.TIMEOUT_US] = 0
            return
        if self._began_s is None:
            self._began_s = now_s
            self._latencies_us.clear()
        if (now_s - self._began_s) * 1000 >= page.setting(settings.REPLAY_PERIOD_MS):
            self._began_s = now_s
            found = chosen_us(mode, self._latencies_us)
            if found is not None:
                page.words[HeaderWord.TIMEOUT_US] = max(1, int(found))
            self._latencies_us.clear()

    def _collect(self) -> None:
        words = self._page.words
        for slot in range(self._page.slots):
            if words[self._page.slot(slot, SlotWord.RECORDED)] != self._seen[slot]:
                self._seen[slot], found = self._page.recorded(slot, self._seen[slot])
                self._latencies_us += found


def chosen_us(mode: int, latencies_us: Sequence[int]) -> float | None:
    if mode == Replay.HEDGE:
        return percentile(sorted(latencies_us), HEDGE_PER_MILLE) if latencies_us else None
    return timeout(latencies_us)


class Signals:
    """Largest backlog first, every τ: among tasks, and among the instances of each operator."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._due_s = 0.0

    def look(self, now_s: float) -> None:
        tau_ms = self._page.setting(settings.TAU_MS)
        if not tau_ms or now_s < self._due_s:
            return
        self._due_s = now_s + tau_ms / 1000
        page = self._page
        tasks = page.holders()
        self._choose(
            [page.slot(one, SlotWord.WAITING) for one in tasks],
            [page.slot(one, SlotWord.SIGNAL) for one in tasks],
        )
        for position in range(page.operators):
            siblings = [
                one
                for one in page.operator(position)
                if page.words[page.instance(one, InstanceWord.SERVICE)] == SERVES
            ]
            self._choose(
                [page.instance(one, InstanceWord.PARKED) for one in siblings],
                [page.instance(one, InstanceWord.SIGNAL) for one in siblings],
            )

    def wait_s(self, most_s: float) -> float:
        """How long to wait for the next look."""
        if not self._page.setting(settings.TAU_MS):
            return most_s
        return max(0.001, min(most_s, self._due_s - time.monotonic()))

    def _choose(self, backlogs_at: Sequence[int], signals_at: Sequence[int]) -> None:
        words = self._page.words
        chosen = signals([words[at] for at in backlogs_at])
        # The one that may send comes first, so that there is no moment in which nobody may.
        for signal, at in sorted(zip(chosen, signals_at, strict=True), reverse=True):
            words[at] = signal


def publish_weights(page: Page) -> None:
    """Writes each instance's mean weight over all dispatchers that weigh, in 1/100 %."""
    slots = [page.weights_of_slot(one) for one in page.holders()]
    instances = [page.weights_of_instance(one) for one in range(page.instances)]
    for number in range(page.instances):
        given = [weight for at in (*slots, *instances) if (weight := page.words[at + number])]
        page.words[page.instance(number, InstanceWord.WEIGHT)] = (
            round(sum(given) / len(given)) if given else 0
        )
