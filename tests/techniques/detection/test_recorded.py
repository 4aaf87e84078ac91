"""Detection on real runs of the traffic jam job whose fault is known."""

import pytest

from collectors.formats import keys
from collectors.formats.wire import WINDOW_MS
from dashboard.detection.watch import Watch
from dashboard.series import activities, windows
from dashboard.series.history import LOOKS_BACK_MS, History
from techniques.detection.incidents import Incident
from tests.techniques.detection.recorded import JOB_ID, seconds


def opened(setting: str) -> dict[str, tuple[int, Incident]]:
    """Incidents by kind, each with when it was first opened."""
    watch, history = Watch(), History(LOOKS_BACK_MS // WINDOW_MS)
    found: dict[str, tuple[int, Incident]] = {}
    for news in seconds(setting):
        frames, _ = windows.read(news.get(keys.frames(JOB_ID), ()))
        ended, _ = activities.read(news.get(keys.activities(JOB_ID), ()))
        history.add(frames, ended)
        for incident in watch.look(history.view()).opened:
            found.setdefault(incident.latest.kind, (frames[-1].start_ms + WINDOW_MS, incident))
    return found


@pytest.mark.parametrize("setting", ["statistical", "scheduled"])
def test_a_run_with_a_fault_opens_its_incident_within_ten_seconds_of_the_second_recurrence(
    setting: str,
) -> None:
    ((kind, (opened_ms, incident)),) = opened(setting).items()

    assert kind == f"{setting}_shadowsync"
    second_recurrence_ms, _ = incident.latest.spans_ms[2]
    assert opened_ms - second_recurrence_ms <= 10_000


def test_a_run_without_a_fault_opens_nothing() -> None:
    assert opened("calm") == {}
