"""Errors of one job do not stop the others: they are logged, counted and shown on its cards."""

import logging
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from dashboard.store import StoreUnavailable

log = logging.getLogger(__name__)


class Failures:
    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._said: dict[str, str] = {}

    @contextmanager
    def kept_to(self, *job_ids: str) -> Iterator[None]:
        """Catches and records whatever is thrown inside, except `StoreUnavailable`, which ends the
        round for all jobs."""
        try:
            yield
        except StoreUnavailable:
            raise
        except Exception as error:
            self._counts.update(job_ids)
            self._said |= dict.fromkeys(job_ids, f"{type(error).__name__}: {error}"[:200])
            times = max(self._counts[job_id] for job_id in job_ids)
            log.exception("steering %s failed, for the %d. time", ", ".join(job_ids), times)

    def count(self, job_id: str) -> int:
        return self._counts[job_id]

    def latest(self, job_id: str) -> str:
        """The job's latest error in this round, "" if there was none."""
        return self._said.get(job_id, "")

    def begin_round(self, job_ids: Collection[str]) -> None:
        self._said = {}
        self._counts = Counter({j: n for j, n in self._counts.items() if j in job_ids})
