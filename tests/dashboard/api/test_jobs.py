import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from collectors.formats import activity, keys
from collectors.formats.activity import Activity, Kind
from collectors.formats.wire import ExecutorSample, encode
from dashboard.fleet import jobs
from dashboard.store import StoreUnavailable
from dashboard.store.memory import MemoryStore
from tests.factories import ACTIVITIES, ANNOUNCEMENT, START_MS, frame

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("memory_store")]

JOB = f"/api/v1/jobs/{ANNOUNCEMENT.job_id}"


@pytest.fixture
def api(client: Client) -> Client:
    client.force_login(User.objects.create_user("eve"))
    jobs.record([ANNOUNCEMENT])
    return client


def problem(response: Any) -> dict[str, Any]:
    assert response["Content-Type"] == "application/problem+json"
    body: dict[str, Any] = json.loads(response.content)
    assert body["status"] == response.status_code
    return body


def test_all_jobs_are_listed(api: Client) -> None:
    body = api.get("/api/v1/jobs").json()
    assert body["count"] == 1
    assert body["items"][0]["id"] == ANNOUNCEMENT.job_id
    assert body["items"][0]["run"]["run_id"] == ANNOUNCEMENT.run_id


def test_one_job_is_shown(api: Client) -> None:
    assert api.get(JOB).json()["query"] == "scored"


def test_an_unknown_job_is_404(api: Client) -> None:
    for path in ("/api/v1/jobs/nobody", "/api/v1/jobs/nobody/windows?start_ms=0&end_ms=50"):
        response = api.get(path)
        assert response.status_code == 404
        assert "nobody" in problem(response)["detail"]


def test_windows_come_as_columns(api: Client, memory_store: MemoryStore) -> None:
    for at in range(4):
        payload = encode(frame(at, (10 * (at + 1),)))
        memory_store.append(keys.frames(ANNOUNCEMENT.job_id), START_MS + 50 * at, payload)
    body = api.get(f"{JOB}/windows?start_ms={START_MS + 50}&end_ms={START_MS + 150}").json()
    assert body["t"] == [START_MS + 50, START_MS + 100]
    assert body["latency"]["count"] == [1, 1]
    assert body["latency"]["p99"] == pytest.approx([20, 30], rel=0.01)
    assert body["committed"]["count"] == [0, 0]
    assert body["committed"]["p95"] == [None, None]


def test_a_metric_is_shown_per_executor(api: Client, memory_store: MemoryStore) -> None:
    samples = (ExecutorSample("1", "node-a", {1: 400}), ExecutorSample("2", "node-b", {}))
    for at, executors in enumerate([samples, samples[:1]]):
        memory_store.append(
            keys.frames(ANNOUNCEMENT.job_id),
            START_MS + 50 * at,
            encode(frame(at, executors=executors)),
        )
    query = f"start_ms={START_MS}&end_ms={START_MS + 100}"
    body = api.get(f"{JOB}/executors/host_cpu?{query}").json()
    assert (body["metric"], body["unit"]) == ("host_cpu", "permille")
    assert body["executors"] == {"1": [400, 400], "2": [None, None]}
    unknown = api.get(f"{JOB}/executors/mood?{query}")
    assert unknown.status_code == 404
    assert "host_cpu" in problem(unknown)["detail"]


def test_activities_are_those_that_overlap_the_range(
    api: Client, memory_store: MemoryStore
) -> None:
    stored_ms = START_MS + 5_000
    stream = keys.activities(ANNOUNCEMENT.job_id)
    memory_store.append(stream, stored_ms, activity.encode(ACTIVITIES))
    memory_store.append(stream, stored_ms + 50, b"garbage")
    body = api.get(f"{JOB}/activities?start_ms={START_MS + 1_000}&end_ms={START_MS + 2_000}").json()
    assert [each["kind"] for each in body["items"]] == ["compaction"]
    assert body["items"][0]["end_ms"] == START_MS + 5_000
    assert body["items"][0]["partition"] == 3
    assert body["unreadable"] == 1


def test_the_size_of_a_state_store_is_nothing_that_ran(
    api: Client, memory_store: MemoryStore
) -> None:
    at_us = START_MS * 1000
    size = Activity(Kind.STATE, at_us, at_us, "1", 0, 3, "default", input_bytes=4_096)
    stream = keys.activities(ANNOUNCEMENT.job_id)
    memory_store.append(stream, START_MS, activity.encode((size, *ACTIVITIES)))
    body = api.get(f"{JOB}/activities?start_ms={START_MS}&end_ms={START_MS + 100}").json()
    assert [each["kind"] for each in body["items"]] == ["compaction", "gc"]


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("start_ms=5", "end_ms"),
        ("start_ms=soon&end_ms=9", "start_ms"),
        ("start_ms=-1&end_ms=9", "start_ms"),
        ("start_ms=0&end_ms=99999999999999999999", "end_ms"),
        ("start_ms=9&end_ms=9", "15 minutes"),
        ("start_ms=0&end_ms=900001", "15 minutes"),
    ],
)
def test_a_range_that_makes_no_sense_is_400_with_the_reason(
    api: Client, query: str, named: str
) -> None:
    response = api.get(f"{JOB}/windows?{query}")
    assert response.status_code == 400
    assert named in problem(response)["detail"]


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/jobs",
        JOB,
        f"{JOB}/windows?start_ms=0&end_ms=50",
        f"{JOB}/activities?start_ms=0&end_ms=50",
    ],
)
def test_without_a_login_there_is_only_401(client: Client, path: str) -> None:
    response = client.get(path)
    assert response.status_code == 401
    assert problem(response)["title"] == "Not logged in"


def test_a_store_that_is_away_is_503(
    api: Client, memory_store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: object) -> None:
        raise StoreUnavailable("connection refused")

    monkeypatch.setattr(memory_store, "entries", away)
    assert api.get(f"{JOB}/windows?start_ms=0&end_ms=50").status_code == 503


def test_the_api_describes_itself_to_those_who_are_logged_in(api: Client) -> None:
    paths = api.get("/api/v1/openapi.json").json()["paths"]
    assert "/api/v1/jobs/{job_id}/windows" in paths
    docs = api.get("/api/v1/docs")
    assert docs.status_code == 200
    assert b"cdn" not in docs.content.lower()
    assert Client().get("/api/v1/openapi.json").status_code == 302
