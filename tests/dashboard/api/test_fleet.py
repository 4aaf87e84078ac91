import asyncio
import json
import time
from dataclasses import replace
from typing import Any

import pytest
from django.test import Client

from collectors.formats.pulse import Pulse, Recent
from dashboard.fleet import jobs, snapshots
from dashboard.models import AuditEntry, Incident, Job, Person, Role, Slo
from dashboard.store import StoreUnavailable
from dashboard.store.memory import MemoryStore
from techniques.slo.objective import as_data, parse
from tests.dashboard.users import logged_in, person
from tests.factories import ANNOUNCEMENT, PULSE, START_MS, announcement, p99_objective

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("memory_store")]

JOBS = "/api/v1/jobs"
JOB = f"{JOBS}/{ANNOUNCEMENT.job_id}"


def now_ms() -> int:
    return time.time_ns() // 1_000_000


@pytest.fixture
def api() -> Client:
    client = logged_in(person("eve", Role.OPERATOR))
    jobs.record([ANNOUNCEMENT])
    return client


def put(api: Client, path: str, **body: Any) -> Any:
    return api.put(path, json.dumps(body), content_type="application/json")


def ids(response: Any) -> list[str]:
    assert response.status_code == 200, response.content
    return [item["id"] for item in response.json()["items"]]


def test_a_job_that_runs_shows_its_numbers(api: Client, memory_store: MemoryStore) -> None:
    memory_store.announce(announcement(heartbeat_ms=now_ms(), pulse=PULSE))
    body = api.get(JOBS).json()
    (job,) = body["items"]
    assert (body["store"], body["next"]) == ("ok", None)
    assert (job["state"], job["p99_source"], job["p99_ms"]) == ("running", "record", 31.753)
    assert job["p99_recent"] == {
        "start_ms": START_MS - 20_000,
        "step_ms": 10_000,
        "p99_ms": [136.168, None, 31.753],
    }
    assert job["backlog_rows"] == 0
    assert job["collector"]["shipped_frames"] == 300
    assert job["collector"]["busy_share"] == 0.03
    assert job == api.get(JOB).json() | {"last_seen_ms": job["last_seen_ms"]}


def test_a_run_that_warms_up_says_so(api: Client, memory_store: MemoryStore) -> None:
    def warming_up(said: bool) -> bool:
        pulse = replace(PULSE, warming_up=said)
        memory_store.announce(announcement(heartbeat_ms=now_ms(), pulse=pulse))
        return bool(api.get(JOB).json()["warming_up"])

    assert warming_up(True)
    assert not warming_up(False)


def test_a_job_is_watched_while_its_newest_windows_are_looked_at(
    api: Client, memory_store: MemoryStore
) -> None:
    def watched(looked_ms: int | None, heartbeat_ms: int) -> bool:
        memory_store.announce(announcement(heartbeat_ms=heartbeat_ms, pulse=PULSE))
        if looked_ms is not None:
            asyncio.run(memory_store.tell_looked({ANNOUNCEMENT.job_id: looked_ms}, {}))
        return bool(api.get(JOB).json()["watched"])

    now = now_ms()
    assert not watched(None, now)
    assert watched(now - 2_000, now)
    assert not watched(now - 11_000, now)
    assert not watched(now - 2_000, now - 10_000)


def test_why_a_jobs_data_could_not_be_read_is_told_with_the_job(
    api: Client, memory_store: MemoryStore
) -> None:
    memory_store.announce(announcement(heartbeat_ms=now_ms(), pulse=PULSE))
    assert api.get(JOB).json()["failure"] == ""
    asyncio.run(memory_store.tell_looked({}, {ANNOUNCEMENT.job_id: "3 entries are garbage"}))

    assert api.get(JOB).json()["failure"] == "3 entries are garbage"


def test_a_job_that_fell_silent_is_stale_and_its_last_number_is_not_shown_as_todays(
    api: Client, memory_store: MemoryStore
) -> None:
    memory_store.announce(announcement(heartbeat_ms=now_ms() - 60_000, pulse=PULSE))
    (job,) = api.get(JOBS).json()["items"]
    assert (job["state"], job["p99_ms"], job["backlog_rows"]) == ("stale", None, None)
    assert not job["warming_up"]
    assert job["p99_recent"]["p99_ms"] == [136.168, None, 31.753]


def test_without_redis_the_list_still_comes_and_says_so(
    api: Client, memory_store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away() -> None:
        raise StoreUnavailable("connection refused")

    memory_store.announce(announcement(heartbeat_ms=now_ms(), pulse=PULSE))
    monkeypatch.setattr(memory_store, "announcements", away)
    body = api.get(JOBS).json()
    (job,) = body["items"]
    assert body["store"] == "away"
    assert (job["state"], job["p99_ms"], job["collector"]) == ("stale", None, None)
    assert job["p99_recent"]["p99_ms"] == []
    assert api.get(JOB).status_code == 200


def test_a_redis_that_does_not_answer_in_time_is_away(
    api: Client, memory_store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def forever() -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(snapshots, "PATIENCE_S", 0.05)
    monkeypatch.setattr(memory_store, "announcements", forever)
    assert api.get(JOBS).json()["store"] == "away"


def test_jobs_are_searched_filtered_and_sorted(api: Client, memory_store: MemoryStore) -> None:
    beat = now_ms()
    for name, p99_us in {"slow": 9_000_000, "quick": 5_000}.items():
        said = announcement(
            job_id=f"orders.{name}",
            query=name,
            heartbeat_ms=beat,
            pulse=Pulse(recent=Recent(START_MS, (p99_us,))),
        )
        jobs.record([said])
        memory_store.announce(said)
    put(api, f"{JOBS}/orders.quick/tags", tags=["Team:Pay"], reason="")
    assert ids(api.get(JOBS)) == ["orders.scored", "orders.slow", "orders.quick"]
    assert ids(api.get(f"{JOBS}?sort=name&state=")) == [
        "orders.quick",
        "orders.scored",
        "orders.slow",
    ]
    assert ids(api.get(f"{JOBS}?state=running")) == ["orders.slow", "orders.quick"]
    assert ids(api.get(f"{JOBS}?tag=team:pay")) == ["orders.quick"]
    assert ids(api.get(f"{JOBS}?search=slow")) == ["orders.slow"]
    Incident.objects.create(job_id="orders.quick", kind="gc", title="GC", onset_ms=beat)
    assert ids(api.get(JOBS))[0] == "orders.quick"


def test_pages_follow_one_another(api: Client) -> None:
    jobs.record([announcement(job_id=f"orders.q{at}", query=f"q{at}") for at in range(7)])
    seen: list[str] = []
    cursor = ""
    while cursor is not None:
        body = api.get(f"{JOBS}?limit=3&sort=name&cursor={cursor}").json()
        assert body["count"] == 8
        seen += [item["id"] for item in body["items"]]
        cursor = body["next"]
    assert seen == [*(f"orders.q{at}" for at in range(7)), "orders.scored"]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("state=well", "state"),
        ("sort=luck", "sort"),
        ("limit=0", "limit"),
        ("limit=501", "limit"),
        ("cursor=nonsense", "cursor"),
        (f"search={'x' * 201}", "search"),
    ],
)
def test_a_question_that_makes_no_sense_is_400_and_names_the_field(
    api: Client, query: str, field: str
) -> None:
    response = api.get(f"{JOBS}?{query}")
    assert response.status_code == 400
    assert response.json()["faults"][0]["field"] == field


def test_incidents_are_counted(api: Client) -> None:
    job, hour = Job.objects.get(), 3_600_000
    kinds = [
        ("open", now_ms() - 5 * hour, None),
        ("open", now_ms() - 5 * hour, now_ms() - 4 * hour),
        ("acknowledged", now_ms() - 1_000, None),
        ("resolved", now_ms() - 2 * hour, now_ms() - 1_000),
        ("resolved", now_ms() - 3 * hour, now_ms() - 2 * hour),
    ]
    for state, onset_ms, end_ms in kinds:
        Incident.objects.create(
            job=job, kind="gc", title="GC", state=state, onset_ms=onset_ms, end_ms=end_ms
        )
    shown = api.get(JOB).json()
    assert (shown["open_incidents"], shown["incidents_last_hour"]) == (2, 3)


def objective(threshold_ms: float = 200.0) -> dict[str, Any]:
    return as_data(p99_objective(threshold_ms))


def test_an_slo_is_promised_changed_and_taken_back(api: Client) -> None:
    assert api.get(JOB).json()["slo"] is None
    assert api.get(f"{JOB}/slo").json() == {"objective": None, "version": 0, "reason": ""}
    wish = {"latency": {"threshold_ms": 200}, "juice": {"threshold": 0.95}, "priority": 10}
    made = put(api, f"{JOB}/slo", objective=wish, reason="the contract with orders", version=0)
    # What was left out has its default, and is said.
    utility = {"shape": "knee", "points": []}
    latency = {"of": "committed", "statistic": "p99", "threshold_ms": 200.0, "utility": utility}
    whole = {
        "latency": latency,
        "juice": {"threshold": 0.95, "utility": utility},
        "priority": 10.0,
    }
    assert made.json() == {
        "objective": whole,
        "version": 1,
        "reason": "the contract with orders",
    }
    assert api.get(f"{JOB}/slo").json() == made.json()
    shown = api.get(JOB).json()["slo"]
    assert (shown["objective"], shown["version"], shown["ratio"]) == (whole, 1, None)
    changed = put(api, f"{JOB}/slo", objective=objective(150.5), reason="", version=1).json()
    assert (changed["version"], changed["reason"]) == (2, "")
    gone = put(api, f"{JOB}/slo", objective=None, reason="not ours", version=2)
    assert gone.json() == {"objective": None, "version": 0, "reason": ""}
    assert api.get(JOB).json()["slo"] is None
    again = put(api, f"{JOB}/slo", objective=objective(99), reason="", version=0)
    assert again.json()["version"] == 4, "a version that once was must not come back"
    entries = list(AuditEntry.objects.order_by("id"))
    written = as_data(parse(wish))
    assert [(e.before, e.after) for e in entries] == [
        (None, written),
        (written, objective(150.5)),
        (objective(150.5), None),
        (None, objective(99)),
    ]
    first = entries[0]
    assert (first.who, first.action, first.job) == ("eve", "slo.changed", ANNOUNCEMENT.job_id)
    assert first.reason == "the contract with orders"


def test_an_slo_of_the_p99_shows_how_far_it_is_missed(
    api: Client, memory_store: MemoryStore
) -> None:
    memory_store.announce(announcement(heartbeat_ms=now_ms(), pulse=PULSE))
    put(api, f"{JOB}/slo", objective=objective(10.0), version=0)
    shown = api.get(JOB).json()["slo"]
    assert (shown["latency_ms"], shown["juice"]) == (31.753, None)
    assert shown["ratio"] == pytest.approx(3.1753)


@pytest.mark.parametrize("version", [0, 2])
def test_an_slo_that_changed_meanwhile_is_409_with_the_one_there_is(
    api: Client, version: int
) -> None:
    put(api, f"{JOB}/slo", objective=objective(200), reason="first", version=0)
    response = put(api, f"{JOB}/slo", objective=objective(300), reason="", version=version)
    assert response.status_code == 409
    assert response.json()["current"] == {
        "objective": objective(200),
        "version": 1,
        "reason": "first",
    }
    assert Slo.objects.get().objective == objective(200)
    assert AuditEntry.objects.count() == 1


def test_an_slo_put_twice_is_no_second_change(api: Client) -> None:
    put(api, f"{JOB}/slo", objective=objective(), reason="", version=0)
    assert (
        put(api, f"{JOB}/slo", objective=objective(), reason="", version=1).json()["version"] == 1
    )
    assert AuditEntry.objects.count() == 1


LATENCY = {"threshold_ms": 200}
RISING = {"shape": "points", "points": [[100, 0.5], [200, 0.6]]}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"objective": {"latency": {"threshold_ms": 0}}}, "objective.latency.threshold_ms"),
        ({"objective": {"latency": {"threshold_ms": 3_600_001}}}, "objective.latency.threshold_ms"),
        ({"objective": {"latency": {"threshold_ms": "fast"}}}, "objective.latency.threshold_ms"),
        ({"objective": {"latency": {}}}, "objective.latency.threshold_ms"),
        ({"objective": {"latency": {**LATENCY, "of": "read"}}}, "objective.latency.of"),
        ({"objective": {"latency": {**LATENCY, "p50": 1}}}, "objective.latency.p50"),
        (
            {"objective": {"latency": {**LATENCY, "utility": RISING}}},
            "objective.latency.utility.points",
        ),
        ({"objective": {"juice": {"threshold": 1.1}}}, "objective.juice.threshold"),
        ({"objective": {"latency": LATENCY, "priority": 0}}, "objective.priority"),
        ({"objective": {"latency": LATENCY, "colour": "red"}}, "objective.colour"),
        ({"objective": {}}, "objective.latency"),
        ({"objective": 5}, "objective"),
        ({}, "objective"),
        ({"objective": {"latency": LATENCY}, "version": None}, "version"),
        ({"objective": {"latency": LATENCY}, "version": -1}, "version"),
        ({"objective": {"latency": LATENCY}, "reason": "x" * 501}, "reason"),
    ],
)
def test_an_slo_that_makes_no_sense_is_400_and_names_the_field(
    api: Client, body: dict[str, Any], field: str
) -> None:
    response = put(api, f"{JOB}/slo", **{"version": 0, **body})
    assert response.status_code == 400
    assert response.json()["faults"][0]["field"] == field
    assert not Slo.objects.exists()


def test_tags_are_set_in_one_spelling_and_order(api: Client) -> None:
    response = put(api, f"{JOB}/tags", tags=[" Team:Pay", "prod", "prod", "v1.2"], reason="why not")
    assert response.json() == {"tags": ["prod", "team:pay", "v1.2"]}
    assert put(api, f"{JOB}/tags", tags=["prod"], reason="").json() == {"tags": ["prod"]}
    assert api.get(JOB).json()["tags"] == ["prod"]
    assert put(api, f"{JOB}/tags", tags=["prod"], reason="").status_code == 200
    entries = list(AuditEntry.objects.order_by("id"))
    assert [(e.before, e.after) for e in entries] == [
        ([], ["prod", "team:pay", "v1.2"]),
        (["prod", "team:pay", "v1.2"], ["prod"]),
    ]
    assert (entries[0].action, entries[0].reason) == ("tags.changed", "why not")


@pytest.mark.parametrize(
    "tags",
    [["with space"], ["ümlaut"], [""], ["x" * 41], [5], "prod", [f"t{at}" for at in range(21)]],
)
def test_tags_that_make_no_sense_are_400(api: Client, tags: Any) -> None:
    response = put(api, f"{JOB}/tags", tags=tags, reason="")
    assert response.status_code == 400
    assert response.json()["faults"][0]["field"].startswith("tags")
    assert api.get(JOB).json()["tags"] == []


CHANGES = [
    ("slo", {"objective": {"latency": {"threshold_ms": 5}}, "version": 0, "reason": ""}),
    ("tags", {"tags": ["a"], "reason": ""}),
]


@pytest.mark.parametrize(("what", "body"), CHANGES)
def test_a_viewer_may_not_change_anything(api: Client, what: str, body: dict[str, Any]) -> None:
    Person.objects.update(role=Role.VIEWER)
    response = put(api, f"{JOB}/{what}", **body)
    assert response.status_code == 403
    assert "operator" in response.json()["detail"]
    assert not AuditEntry.objects.exists()


@pytest.mark.parametrize(("what", "body"), CHANGES)
def test_what_is_put_on_an_unknown_job_is_404(api: Client, what: str, body: dict[str, Any]) -> None:
    assert put(api, f"{JOBS}/nobody.knows/{what}", **body).status_code == 404


def test_without_a_login_nothing_is_told_or_changed(client: Client) -> None:
    assert client.get(JOBS).status_code == 401
    assert client.get(f"{JOB}/slo").status_code == 401
    assert put(client, f"{JOB}/slo", objective=None, version=0).status_code == 401
    assert put(client, f"{JOB}/tags", tags=[]).status_code == 401
