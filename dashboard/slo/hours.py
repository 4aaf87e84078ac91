"""Outcomes and utilities by the hour, bounded to a day: written with each evaluation, read for
error budgets and for utility over time."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from collectors.formats.pulse import BIN_MS
from dashboard.models import SloHour
from dashboard.models.slos import BINS_PER_HOUR, NO_OUTCOME
from dashboard.slo import burn
from dashboard.slo.evaluation import Outcome

HOUR_MS = BINS_PER_HOUR * BIN_MS
DAY_MS = 24 * HOUR_MS


@dataclass(frozen=True)
class Budget:
    """`burn_rate` 1 uses up exactly what is allowed; `left` is what is left of the error budget of
    the bins that were judged in that time, as a share."""

    judged: int
    missed: int
    burn_rate: float
    left: float

    @staticmethod
    def of(outcomes: str) -> "Budget":
        told = outcomes.replace(NO_OUTCOME, "")
        rate = burn.rate(told)
        return Budget(len(told), told.count(burn.MISSED), rate, max(0.0, round(1 - rate, 6)))


def write(job_id: str, outcomes: Iterable[Outcome]) -> None:
    """Call it in the transaction of the evaluation, which only one worker can win."""
    by_hour: dict[int, list[Outcome]] = {}
    for each in outcomes:
        by_hour.setdefault(each.start_ms // HOUR_MS * HOUR_MS, []).append(each)
    for start_ms, told in by_hour.items():
        hour, is_new = SloHour.objects.get_or_create(job_id=job_id, start_ms=start_ms)
        letters = list(hour.outcomes)
        for each in told:
            at = (each.start_ms - start_ms) // BIN_MS
            hour.utilities[at] = None if each.utility is None else round(each.utility, 4)
            if each.met is not None:
                letters[at] = burn.MET if each.met else burn.MISSED
        hour.outcomes = "".join(letters)
        hour.save(update_fields=["outcomes", "utilities"])
        if is_new:
            SloHour.objects.filter(job_id=job_id, start_ms__lt=start_ms - DAY_MS).delete()


def budgets(job_ids: Sequence[str], now_ms: int) -> dict[str, dict[str, Budget]]:
    """Over the last hour ("1h") and day ("1d"), by job."""
    after_ms = now_ms - DAY_MS
    rows = _rows(job_ids, after_ms).values_list("job_id", "start_ms", "outcomes")
    told: dict[str, dict[int, str]] = {job_id: {} for job_id in job_ids}
    for job_id, start_ms, outcomes in rows:
        told[job_id][start_ms] = outcomes
    return {
        job_id: {
            "1h": Budget.of(_between(hours, now_ms - HOUR_MS, now_ms)),
            "1d": Budget.of(_between(hours, after_ms, now_ms)),
        }
        for job_id, hours in told.items()
    }


def utilities(job_ids: Sequence[str], start_ms: int, end_ms: int) -> dict[str, list[float | None]]:
    """By job a value per bin from `start_ms` on, which is the start of a bin."""
    found: dict[str, list[float | None]] = {
        job_id: [None] * ((end_ms - start_ms) // BIN_MS) for job_id in job_ids
    }
    rows = _rows(job_ids, start_ms).filter(start_ms__lt=end_ms)
    for job_id, hour_ms, values in rows.values_list("job_id", "start_ms", "utilities"):
        line = found[job_id]
        for at, value in enumerate(values, (hour_ms - start_ms) // BIN_MS):
            if 0 <= at < len(line):
                line[at] = value
    return found


def forget(now_ms: int) -> None:
    """Of jobs that have no SLO any more nothing is written, and so nothing tidied on the way."""
    SloHour.objects.filter(start_ms__lt=now_ms - DAY_MS - HOUR_MS).delete()


def _rows(job_ids: Sequence[str], after_ms: int) -> QuerySet[SloHour]:
    return SloHour.objects.filter(job_id__in=job_ids, start_ms__gt=after_ms - HOUR_MS)


def _between(hours: Mapping[int, str], start_ms: int, end_ms: int) -> str:
    """The outcomes of the bins that lie between."""
    parts = []
    for hour_ms, outcomes in sorted(hours.items()):
        first = max(0, -((hour_ms - start_ms) // BIN_MS))
        last = max(0, (end_ms - hour_ms) // BIN_MS)
        parts.append(outcomes[first:last])
    return "".join(parts)
