"""Writes what an evaluation found: the SLO's state, the hour's outcomes, and who is told."""

from collections.abc import Sequence

from django.db import transaction

from collectors.formats.pulse import BIN_MS
from dashboard.alerts import outbox
from dashboard.models import Slo
from dashboard.slo import evaluation, hours, notifications
from dashboard.slo.burn import MET, State
from dashboard.slo.evaluation import Outcome
from techniques.slo.objective import Objective


def note(slo: Slo, objective: Objective, outcomes: Sequence[Outcome]) -> None:
    known = [each for each in outcomes if each.met is not None]
    if not known:
        return
    newest = known[-1]
    before = State(slo.judged_ms, slo.outcomes, slo.missing_ms, slo.violated_ms)
    after = evaluation.after(before, known)
    # Update only the SLO that was evaluated: an operator may have changed it in between, or another
    # worker may have been quicker.
    judged = Slo.objects.filter(pk=slo.pk, version=slo.version, judged_ms=before.judged_ms)
    with transaction.atomic():
        if not judged.update(
            judged_ms=after.judged_ms,
            outcomes=after.outcomes,
            missing_ms=after.missing_ms,
            violated_ms=after.violated_ms,
            latency_ms=newest.latency_ms,
            juice=newest.juice,
            utility=newest.utility,
        ):
            return
        hours.write(slo.job_id, known)
        if before.violated_ms is None and after.violated_ms is not None:
            missed = next(each for each in reversed(known) if each.met is False)
            outbox.publish(notifications.violated(slo, objective, after, missed))
        elif before.violated_ms is not None and after.violated_ms is None:
            outbox.publish(
                notifications.restored(slo, objective, before.violated_ms, _missed_until_ms(after))
            )


def _missed_until_ms(state: State) -> int:
    """The end of the last bin that missed it, where bins follow one another."""
    met = len(state.outcomes) - len(state.outcomes.rstrip(MET))
    return state.judged_ms - met * BIN_MS
