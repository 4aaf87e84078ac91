"""A job's last two minutes, read at once, as detectors and controllers see them."""

from collections.abc import Iterable, Sequence

from collectors.formats import keys
from collectors.formats.activity import Activity
from collectors.formats.wire import WINDOW_MS, Frame
from dashboard.series import activities, windows
from dashboard.series.history import LOOKS_BACK_MS, NEEDS, History
from dashboard.store import Store
from techniques.view import View


async def view(store: Store, job_id: str, now_ms: int) -> View:
    start_ms = now_ms - LOOKS_BACK_MS
    stored = await store.entries(keys.frames(job_id), start_ms, now_ms)
    frames, _ = windows.in_place(stored, NEEDS)
    ended, _ = activities.read(await store.entries(keys.activities(job_id), start_ms, now_ms))
    return of([frame for _, frame in frames], ended)


def of(frames: Sequence[Frame], ended: Iterable[Activity]) -> View:
    history = History(LOOKS_BACK_MS // WINDOW_MS)
    history.add(frames, ended)
    return history.view()
