"""The worker's other SLO round: evaluates, from frames, what heartbeats do not carry.

Only SLOs of this worker's own jobs, whose frames it has read for detection a moment ago. Between
bins a round asks the database nothing.
"""

import logging
from collections.abc import Callable
from functools import cache

from dashboard.models import Slo
from dashboard.slo import evaluation, records
from dashboard.slo.current import read
from dashboard.worker.histories import Histories, the_histories
from dashboard.worker.job_leases import Leases, the_leases
from techniques.view import View

log = logging.getLogger(__name__)


class HistoryJudge:
    def __init__(
        self,
        leases: Leases,
        histories: Histories,
        juice_of: Callable[[View], float | None] = lambda view: None,
    ) -> None:
        self._leases = leases
        self._histories = histories
        self._juice_of = juice_of
        # The end of the newest bin that was looked at, by job.
        self._seen_ms: dict[str, int] = {}

    def round(self) -> None:
        due = self._due()
        if not due:
            return
        for slo in Slo.objects.filter(job_id__in=due, objective__isnull=False):
            try:
                self._judge(slo)
            except Exception as error:
                # One job's data must not keep the others from being judged.
                log.exception("the SLO of %s cannot be evaluated", slo.job_id)
                why = f"its SLO could not be evaluated: {type(error).__name__}: {error}"
                self._histories.fail(slo.job_id, why)

    def _due(self) -> list[str]:
        """The jobs with a bin that was not looked at yet."""
        found = {
            job_id: self._newest_ms(job_id)
            for job_id, objective in self._histories.objectives().items()
            if not evaluation.told_by_pulse(objective) and self._leases.holds(job_id)
        }
        due = [job_id for job_id, end_ms in found.items() if end_ms > self._seen_ms.get(job_id, 0)]
        self._seen_ms = found
        return due

    def _newest_ms(self, job_id: str) -> int:
        if (bins := self._histories.bins(job_id)) is not None:
            return bins.newest.end_ms if bins.newest else 0
        view = self._histories.view(job_id)
        return evaluation.last_bin_end_ms(view) if view is not None else 0

    def _judge(self, slo: Slo) -> None:
        objective, view = read(slo.job_id, slo.objective), self._histories.view(slo.job_id)
        if objective is None or view is None:
            return
        bins = self._histories.bins(slo.job_id)
        told = evaluation.of_history(objective, bins, view, slo.judged_ms, self._juice_of)
        records.note(slo, objective, told)


@cache
def the_history_judge() -> HistoryJudge:
    """The judge of this process's own jobs."""
    return HistoryJudge(the_leases(), the_histories())
