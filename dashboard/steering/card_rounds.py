"""Computes technique cards in the worker: for jobs with a technique switched on, and for jobs whose
cards are open in a browser."""

import time
from collections.abc import Callable, Collection
from typing import Any

from dashboard.models import TechniqueSetting
from dashboard.steering import computed
from dashboard.steering.effects import Effects
from dashboard.steering.failures import Failures
from dashboard.store import Store
from dashboard.worker.histories import Histories
from dashboard.worker.job_leases import Leases
from dashboard.worker.loop import run

EVERY_MS = 5_000
# The time for cards in each second; cards left out are first in the next.
ROUND_S = 0.2


class CardRounds:
    def __init__(
        self,
        leases: Leases,
        histories: Histories,
        failures: Failures,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._leases = leases
        self._histories = histories
        self._failures = failures
        self._clock_s = clock_s
        self._effects = Effects()
        self._computed_ms: dict[str, int] = {}

    def hurry(self, job_id: str) -> None:
        """Has the job's cards computed in the next round, because something changed."""
        self._computed_ms.pop(job_id, None)

    def round(self, store: Store, steered: Collection[str], now_ms: int) -> None:
        """Computes due cards, oldest first, until the time is up. The histories of `steered` must
        have been read already."""
        wanted = {*steered, *filter(self._leases.holds, run(store.wanted_cards()))}
        self._effects.forget_all_but(wanted)
        self._computed_ms = {j: ms for j, ms in self._computed_ms.items() if j in wanted}
        due = [j for j in wanted if now_ms - self._computed_ms.get(j, 0) >= EVERY_MS]
        until_s = self._clock_s() + ROUND_S
        for number, job_id in enumerate(sorted(due, key=lambda j: self._computed_ms.get(j, 0))):
            # At least one per round, or an overloaded worker would never get to any.
            if number and self._clock_s() > until_s:
                return
            self._computed_ms[job_id] = now_ms
            with self._failures.kept_to(job_id):
                if job_id not in steered:
                    self._histories.read(store, [job_id], now_ms)
                self._compute(store, job_id, now_ms)

    def _compute(self, store: Store, job_id: str, now_ms: int) -> None:
        settings = list(TechniqueSetting.objects.filter(job_id=job_id))
        effects: dict[str, Any] = {
            each.technique: run(self._effects.effect(store, each, now_ms)) for each in settings
        }
        failure = self._histories.failure(job_id) or self._failures.latest(job_id)
        view = self._histories.view(job_id)
        made = computed.compute(view, failure, settings, effects, now_ms)
        run(store.put_cards(job_id, computed.encode(made), computed.LASTING_S))
