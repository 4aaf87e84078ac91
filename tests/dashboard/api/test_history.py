"""Hours to months of a job, in steps, wherever their data is."""

import time
from collections.abc import Sequence
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from collectors.formats import keys
from collectors.formats.keys import Entry
from collectors.formats.wire import ExecutorSample, Frame, encode
from dashboard.fleet import jobs
from dashboard.history.archive import Archive
from dashboard.history.errors import ArchiveUnavailable
from dashboard.history.rollups import roll_up
from dashboard.series.steps import LEAST_POINTS, Steps, chosen, missing
from dashboard.store.memory import MemoryStore
from tests.dashboard.api.test_archived_ranges import archive as archive  # a fixture
from tests.factories import ANNOUNCEMENT, START_MS, frame

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("memory_store")]

JOB_ID = ANNOUNCEMENT.job_id
FRAMES = keys.frames(JOB_ID)
HOUR_MS, DAY_MS = 3_600_000, 86_400_000
# Begins with an hour, so that a step begins where the frames do.
FIRST = (-START_MS % HOUR_MS) // 50
BEGIN_MS = START_MS + FIRST * 50


@pytest.fixture
def api(client: Client) -> Client:
    client.force_login(User.objects.create_user("eve"))
    jobs.record([ANNOUNCEMENT])
    return client


def frames(seconds: Sequence[int]) -> list[Frame]:
    """A frame in each of these seconds, the later the slower."""
    sample = (ExecutorSample("1", "node-a", {1: 400}),)
    return [frame(FIRST + at * 20, (at % 50 + 1,), executors=sample) for at in seconds]


def keep(archive: Archive, made: Sequence[Frame]) -> None:
    entries = [Entry(each.start_ms, encode(each)) for each in made]
    archive.append({FRAMES: entries}, archive.archived_ms([FRAMES]))


def send(store: MemoryStore, made: Sequence[Frame]) -> None:
    for each in made:
        store.append(FRAMES, each.start_ms, encode(each))


def ask(api: Client, start_ms: int, end_ms: int) -> dict[str, Any]:
    response = api.get(f"/api/v1/jobs/{JOB_ID}/history?start_ms={start_ms}&end_ms={end_ms}")
    assert response.status_code == 200, response.content
    body: dict[str, Any] = response.json()
    return body


def test_a_day_is_told_in_minutes_with_its_highest_and_its_holes(
    api: Client, archive: Archive
) -> None:
    keep(archive, frames([*range(600), *range(7_200, 7_800, 2)]))
    roll_up(archive, JOB_ID, BEGIN_MS + DAY_MS)
    body = ask(api, BEGIN_MS, BEGIN_MS + DAY_MS)
    assert body["window_ms"] == 60_000
    assert body["t"] == [BEGIN_MS + at * 60_000 for at in (*range(10), *range(120, 130))]
    assert body["windows"] == [60] * 10 + [30] * 10
    assert body["latency"]["count"] == [60] * 10 + [30] * 10
    assert max(body["latency"]["max"]) == pytest.approx(50, rel=0.01)
    assert body["cpu"] == {"node-a": [40.0] * 20}
    assert body["missing"] == [
        {"start_ms": BEGIN_MS + 600_000, "end_ms": BEGIN_MS + 7_200_000},
        {"start_ms": BEGIN_MS + 7_800_000, "end_ms": BEGIN_MS + DAY_MS},
    ]
    assert body["rows_in"] == [None] * 20
    assert body["incomplete"] is None


@pytest.mark.parametrize("archived_s", [0, 3_000, 5_400, 9_000])
@pytest.mark.parametrize("rolled_s", [0, 1_234, 4_000, 9_000])
def test_it_does_not_matter_how_much_is_archived_or_rolled_up(
    api: Client, archive: Archive, memory_store: MemoryStore, archived_s: int, rolled_s: int
) -> None:
    every = frames(range(0, 9_000, 7))
    send(memory_store, every)
    begin_ms, end_ms = BEGIN_MS, BEGIN_MS + 40 * HOUR_MS
    wanted = ask(api, begin_ms, end_ms)
    assert sum(wanted["windows"]) == len(every)
    keep(archive, [each for each in every if each.start_ms < BEGIN_MS + archived_s * 1000])
    roll_up(archive, JOB_ID, BEGIN_MS + min(rolled_s, archived_s) * 1000)
    assert ask(api, begin_ms, end_ms) == wanted


def test_the_newest_minutes_come_from_redis(api: Client, memory_store: MemoryStore) -> None:
    now = int(time.time()) - 30
    offset = (now * 1000 - START_MS) // 50
    send(memory_store, [frame(offset + at, (10,)) for at in range(100)])
    body = ask(api, now * 1000 - 30 * 60_000, now * 1000 + 10_000)
    assert body["window_ms"] == 1_000
    assert sum(body["windows"]) == 100


def test_an_archive_that_is_away_leaves_what_redis_has_and_says_why(
    api: Client, archive: Archive, memory_store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> int:
        raise ArchiveUnavailable("no space left on device")

    monkeypatch.setattr(Archive, "rolled_ms", away)
    send(memory_store, frames(range(60)))
    body = ask(api, BEGIN_MS, BEGIN_MS + HOUR_MS)
    assert sum(body["windows"]) == 60
    assert "no space left on device" in body["incomplete"]


def test_frames_that_nobody_rolled_up_for_hours_are_told(api: Client, archive: Archive) -> None:
    keep(archive, frames([*range(60), *range(80_000, 80_060)]))
    body = ask(api, BEGIN_MS, BEGIN_MS + DAY_MS)
    assert sum(body["windows"]) == 60
    assert "rolled up" in body["incomplete"]


@pytest.mark.parametrize(
    "query", ["start_ms=5&end_ms=5", f"start_ms=0&end_ms={401 * DAY_MS}", "start_ms=0&end_ms=x"]
)
def test_a_range_that_makes_no_sense_is_400(api: Client, query: str) -> None:
    assert api.get(f"/api/v1/jobs/{JOB_ID}/history?{query}").status_code == 400


@given(st.integers(0, 2**41), st.integers(1, 400 * DAY_MS))
def test_steps_are_the_coarsest_of_which_there_are_enough(start_ms: int, length_ms: int) -> None:
    steps = chosen(start_ms, start_ms + length_ms)
    assert steps.start_ms <= start_ms
    assert steps.end_ms >= start_ms + length_ms
    points = length_ms // steps.step_ms
    assert points >= LEAST_POINTS or steps.step_ms == 1_000
    assert points <= 60 * LEAST_POINTS


@given(st.sets(st.integers(0, 50)), st.integers(0, 60))
def test_every_step_is_either_there_or_missing(there: set[int], now: int) -> None:
    steps = Steps(1_000, 0, 51_000)
    told = missing([at * 1_000 for at in sorted(there)], steps, now * 1_000 + 10_000)
    gone = {at for each in told for at in range(each["start_ms"] // 1000, each["end_ms"] // 1000)}
    assert gone == {
        at for at in range(51) if at not in there and at < max(now, max(there, default=0))
    }
