"""Detection on real runs of the traffic jam job whose fault is known."""

import pytest

from collectors import keys
from dashboard import activities, windows
from dashboard.detection.watch import Watch
from tests.techniques.recorded import JOB_ID, seconds

SHADOWSYNC = {"scheduled_shadowsync", "statistical_shadowsync"}


def opened(setting: str) -> dict[str, int]:
    """Kinds of incidents, and how many seconds into the run each was first opened."""
    watch = Watch()
    found: dict[str, int] = {}
    for second, news in enumerate(seconds(setting)):
        frames, _ = windows.read(news.get(keys.frames(JOB_ID), ()))
        ended, _ = activities.read(news.get(keys.activities(JOB_ID), ()))
        for incident in watch.add(frames, ended).opened:
            found.setdefault(incident.latest.kind, second)
    return found


@pytest.mark.parametrize("setting", ["statistical", "scheduled"])
def test_a_run_with_a_fault_opens_the_incident_of_its_kind(setting: str) -> None:
    assert SHADOWSYNC & opened(setting).keys() == {f"{setting}_shadowsync"}


def test_a_run_without_a_fault_opens_nothing() -> None:
    assert opened("calm") == {}
