"""What the worker does every second for every job of which something is asked."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from django.db import transaction

from collectors.formats import keys
from collectors.formats.asked import Asked
from collectors.formats.wire import Frame
from dashboard.alerts import outbox
from dashboard.models import TechniqueSetting
from dashboard.models.techniques import Stand
from dashboard.series import view_loader, windows
from dashboard.steering import controllers, documents, effects, notifications
from dashboard.steering.registered import registry
from dashboard.steering.status import status
from dashboard.store import Store
from dashboard.worker.job_leases import Leases
from techniques.model import Mode

T = TypeVar("T")

NEWEST_MS = 3_000
DECIDES_EVERY_MS = 5_000


def steer(store: Store, now_ms: int, leases: Leases) -> None:
    """Of the jobs that are this worker's: reads what they say, lets controllers decide, renews what
    is asked."""
    by_job: dict[str, list[TechniqueSetting]] = {}
    for setting in TechniqueSetting.objects.select_related("job"):
        # What is off and known to be off needs no round.
        if setting.mode != Mode.OFF or setting.stand != Stand.OFF:
            by_job.setdefault(setting.job_id, []).append(setting)
    for job_id, settings in by_job.items():
        if leases.is_short:
            _run(store, leases.renew(store))
        if leases.holds(job_id):
            _steer_job(store, job_id, settings, now_ms, leases)


def _steer_job(
    store: Store, job_id: str, settings: list[TechniqueSetting], now_ms: int, leases: Leases
) -> None:
    newest = _run(store, _newest(store, job_id, now_ms))
    asked = newest.asked if newest else None
    for setting in settings:
        _note(store, setting, asked, newest is not None, now_ms)
    if newest:
        due = [setting for setting in settings if _is_due(setting, now_ms)]
        if due:
            view = _run(store, view_loader.view(store, job_id, now_ms))
            for setting in due:
                controllers.decide(setting, view, str(newest.run_id), now_ms)
    document = documents.document(job_id, now_ms)
    # Last thing before it is sent: what an earlier owner read may be older than what is there.
    if leases.holds(job_id):
        _run(store, documents.write(store, job_id, document))


async def _newest(store: Store, job_id: str, now_ms: int) -> Frame | None:
    """None of a job that does not run."""
    entries = await store.entries(keys.frames(job_id), now_ms - NEWEST_MS, now_ms + NEWEST_MS)
    frames, _ = windows.read(entries[-1:])
    return frames[-1] if frames else None


def _note(
    store: Store, setting: TechniqueSetting, asked: Asked | None, is_running: bool, now_ms: int
) -> None:
    found = status(setting, asked, is_running)
    if (found.stand, found.because) == (setting.stand, setting.because):
        return
    changes: dict[str, Any] = {"stand": found.stand, "because": found.because}
    if found.stand == Stand.APPLIED and setting.applied_ms is None and setting.mode == Mode.ACT:
        changes["applied_ms"] = now_ms
        changes["before"] = _run(store, effects.before(store, setting.job_id, now_ms))
    # Only of the setting that we judged: an operator may have switched in between, or another
    # worker, to which the job went, told of it before us.
    judged = TechniqueSetting.objects.filter(
        pk=setting.pk, version=setting.version, stand=setting.stand, because=setting.because
    )
    with transaction.atomic():
        changed = judged.update(**changes) and found.stand != setting.stand
        if changed and (event := notifications.event(setting, found, now_ms)):
            outbox.publish(event)
    # For the controller that decides next.
    setting.stand, setting.because = found.stand, found.because


def _is_due(setting: TechniqueSetting, now_ms: int) -> bool:
    if setting.mode == Mode.OFF or setting.technique not in registry().techniques:
        return False
    first = documents.latest_decision(setting.job_id, setting.technique, setting.changed_ms)
    return first is None or now_ms // 1000 % (DECIDES_EVERY_MS // 1000) == 0


def _run(store: Store, work: Coroutine[Any, Any, T]) -> T:
    async def done() -> T:
        try:
            return await work
        finally:
            await store.close()

    return asyncio.run(done())
