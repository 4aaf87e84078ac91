"""The worker's steering round, every second, for its own jobs that have a technique switched on.

It renews the control documents, reads the jobs' new frames, lets controllers decide and last
computes cards. Renewing is first because a lease must not expire while another job's data is read.
An exception affects only the job for which it was thrown.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from django.db import transaction

from collectors.formats.asked import Asked
from dashboard.alerts import outbox
from dashboard.models import TechniqueSetting
from dashboard.models.techniques import Stand
from dashboard.steering import controllers, documents, effects, notifications
from dashboard.steering.card_rounds import CardRounds
from dashboard.steering.clusters import Clusters
from dashboard.steering.failures import Failures
from dashboard.steering.registered import registry
from dashboard.steering.status import status
from dashboard.store import Store
from dashboard.worker.histories import Histories, Newest, the_histories
from dashboard.worker.job_leases import Leases, the_leases
from dashboard.worker.loop import run
from techniques.model import Mode, Scope

# A job whose newest frame is older counts as not running.
NEWEST_MS = 3_000
DECIDES_EVERY_MS = 5_000
# Jobs read at once: reading two minutes of new jobs takes a while, and leases need renewal.
READ_AT_ONCE = 10


class Steering:
    """The steering of one process. Between rounds it keeps when each controller ran last."""

    def __init__(self, leases: Leases, histories: Histories) -> None:
        self._leases = leases
        self._histories = histories
        self.failures = Failures()
        self._cards = CardRounds(leases, histories, self.failures)
        self._clusters = Clusters(leases, histories, self.failures, histories.empty())
        # When the controller ran last, by setting and its version.
        self._looked_ms: dict[tuple[int, int], int] = {}

    def round(self, store: Store, now_ms: int) -> None:
        ours = self._ours(store, TechniqueSetting.objects.all())
        self.failures.begin_round(ours)
        self._forget(ours)
        for job_id in ours:
            with self.failures.kept_to(job_id):
                self._renew(store, job_id, now_ms)
        for group in _cut(list(ours), READ_AT_ONCE):
            self._keep_leases(store)
            self._histories.read(store, group, now_ms)
            for job_id in group:
                with self.failures.kept_to(job_id):
                    self._look(store, job_id, ours[job_id], now_ms)
        self._keep_leases(store)
        for job_id in self._clusters.round(store, now_ms):
            with self.failures.kept_to(job_id):
                self._renew(store, job_id, now_ms)
        self._cards.round(store, ours, now_ms)

    def job(self, store: Store, job_id: str, now_ms: int) -> None:
        """Steers one job immediately, because an operator has just changed something."""
        ours = self._ours(store, TechniqueSetting.objects.filter(job_id=job_id))
        if job_id in ours:
            self._histories.read(store, [job_id], now_ms)
            with self.failures.kept_to(job_id):
                self._look(store, job_id, ours[job_id], now_ms)

    def _ours(
        self, store: Store, settings: Iterable[TechniqueSetting]
    ) -> dict[str, list[TechniqueSetting]]:
        by_job: dict[str, list[TechniqueSetting]] = {}
        for setting in settings:
            # Settings that are off, and that the job reports as off, need no round.
            if setting.mode != Mode.OFF or setting.stand != Stand.OFF:
                by_job.setdefault(setting.job_id, []).append(setting)
        self._keep_leases(store)
        return {job_id: found for job_id, found in by_job.items() if self._leases.holds(job_id)}

    def _keep_leases(self, store: Store) -> None:
        if self._leases.is_short:
            run(self._leases.renew(store))

    def _look(
        self,
        store: Store,
        job_id: str,
        settings: Sequence[TechniqueSetting],
        now_ms: int,
    ) -> None:
        newest = self._histories.newest(job_id)
        if newest and newest.window_start_ms < now_ms - NEWEST_MS:
            newest = None
        for setting in settings:
            with self.failures.kept_to(job_id):
                self._note(store, setting, newest, now_ms)
        if newest is None:
            return
        # A list, because `any` on a generator would stop at the first new decision.
        decided = [self._decide(setting, newest, now_ms) for setting in settings]
        if any(decided):
            self._renew(store, job_id, now_ms)
            self._cards.hurry(job_id)

    def _decide(self, setting: TechniqueSetting, newest: Newest, now_ms: int) -> bool:
        """Lets the controller decide if it is due; returns whether there is a new decision."""
        with self.failures.kept_to(setting.job_id):
            view = self._histories.view(setting.job_id)
            if view is not None and self._is_due(setting, now_ms):
                self._looked_ms[setting.pk, setting.version] = now_ms
                return controllers.decide(setting, view, newest.run_id, now_ms)
        return False

    def _is_due(self, setting: TechniqueSetting, now_ms: int) -> bool:
        technique = registry().techniques.get(setting.technique)
        if setting.mode == Mode.OFF or technique is None or technique.scope == Scope.CLUSTER:
            return False
        looked_ms = self._looked_ms.get((setting.pk, setting.version))
        if looked_ms is None or now_ms - looked_ms >= DECIDES_EVERY_MS:
            return True
        # Without a decision there is nothing to act on, so try for the first one every round.
        found = documents.decisions(setting.job_id, setting.technique, setting.changed_ms)
        return not found.exists()

    def _renew(self, store: Store, job_id: str, now_ms: int) -> None:
        document = documents.document(job_id, now_ms)
        # Check the lease directly before writing: a former owner could overwrite a newer document.
        if self._leases.holds(job_id):
            run(documents.write(store, job_id, document))

    def _note(
        self,
        store: Store,
        setting: TechniqueSetting,
        newest: Newest | None,
        now_ms: int,
    ) -> None:
        asked: Asked | None = newest.asked if newest else None
        found = status(setting, asked, is_running=newest is not None)
        if (found.stand, found.because) == (setting.stand, setting.because):
            return
        changes: dict[str, Any] = {"stand": found.stand, "because": found.because}
        if found.stand == Stand.APPLIED and setting.applied_ms is None and setting.mode == Mode.ACT:
            changes["applied_ms"] = now_ms
            changes["before"] = run(effects.before(store, setting.job_id, now_ms))
        # Update only the row that we read: an operator may have changed it in between, or the
        # job's new worker may have reported the change already.
        judged = TechniqueSetting.objects.filter(
            pk=setting.pk, version=setting.version, stand=setting.stand, because=setting.because
        )
        with transaction.atomic():
            changed = judged.update(**changes) and found.stand != setting.stand
            if changed and (event := notifications.event(setting, found, now_ms)):
                outbox.publish(event)
        # The controller that decides next reads these.
        setting.stand, setting.because = found.stand, found.because

    def _forget(self, ours: Mapping[str, Sequence[TechniqueSetting]]) -> None:
        known = {(setting.pk, setting.version) for each in ours.values() for setting in each}
        self._looked_ms = {key: ms for key, ms in self._looked_ms.items() if key in known}


@cache
def the_steering() -> Steering:
    """The steering of this process, created by its first tick: with Celery, after the fork."""
    return Steering(the_leases(), the_histories())


def _cut(job_ids: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    return (job_ids[at : at + size] for at in range(0, len(job_ids), size))
