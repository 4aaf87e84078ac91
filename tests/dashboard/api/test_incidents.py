import json
from typing import Any

import pytest
from django.test import Client

from dashboard.fleet import jobs
from dashboard.models import AlertEvent, AuditEntry, Incident, Person, Role
from tests.dashboard.alerts.made import endpoint
from tests.dashboard.users import logged_in, person
from tests.factories import ANNOUNCEMENT, announcement

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("memory_store")]

INCIDENTS = "/api/v1/incidents"
OF_JOB = f"/api/v1/jobs/{ANNOUNCEMENT.job_id}/incidents"


@pytest.fixture
def api() -> Client:
    client = logged_in(person("eve", Role.OPERATOR))
    jobs.record([ANNOUNCEMENT, announcement(job_id="orders.raw", query="raw")])
    return client


def incident(onset_ms: int = 1_000, end_ms: int | None = None, **changes: Any) -> Incident:
    made = {"job_id": ANNOUNCEMENT.job_id, "kind": "shadowsync", "title": "Flushes at once"}
    return Incident.objects.create(onset_ms=onset_ms, end_ms=end_ms, **{**made, **changes})


def acknowledge(api: Client, incident_id: int, **body: Any) -> Any:
    return say(api, incident_id, "acknowledge", **body)


def say(api: Client, incident_id: int, what: str, **body: Any) -> Any:
    path = f"{INCIDENTS}/{incident_id}/{what}"
    return api.post(path, json.dumps(body), content_type="application/json")


def ids(response: Any) -> list[int]:
    assert response.status_code == 200, response.content
    return [item["id"] for item in response.json()["items"]]


def test_an_incident_is_shown_whole(api: Client) -> None:
    made = incident(evidence={"flushes": 4}, technique="stagger", occurrences=3)
    assert api.get(f"{INCIDENTS}/{made.pk}").json() == {
        "id": made.pk,
        "job": ANNOUNCEMENT.job_id,
        "kind": "shadowsync",
        "title": "Flushes at once",
        "state": "open",
        "severity": "warning",
        "onset_ms": 1_000,
        "end_ms": None,
        "occurrences": 3,
        "next_expected_ms": None,
        "explanation": "",
        "technique": "stagger",
        "first": None,
        "evidence": {"flushes": 4},
        "acknowledged_by": "",
        "acknowledged_ms": None,
    }


def test_what_to_do_first_is_told_beside_the_technique(api: Client) -> None:
    advice = {"title": "Restart", "why": "it helps", "line": "--conf a=b", "price": "a restart"}
    made = incident(evidence={"first": advice}, technique="stagger")
    # Whoever stored it without saying so meant a setting that a restart takes.
    found = api.get(f"{INCIDENTS}/{made.pk}").json()["first"]
    assert found == {**advice, "needs_restart": True}


def test_the_incidents_of_a_job_are_those_that_overlap_the_range(api: Client) -> None:
    before = incident(1_000, 1_999)
    into = incident(1_500, 2_000)
    inside = incident(2_500, 2_600)
    lasting = incident(100)
    after = incident(3_000, 4_000)
    other = incident(2_500, 2_600, job_id="orders.raw")
    shown = ids(api.get(f"{OF_JOB}?start_ms=2000&end_ms=3000"))
    assert shown == [lasting.pk, into.pk, inside.pk]
    assert not {before.pk, after.pk, other.pk} & set(shown)


def test_a_range_that_makes_no_sense_is_400_and_an_unknown_job_404(api: Client) -> None:
    assert api.get(f"{OF_JOB}?start_ms=5&end_ms=5").status_code == 400
    assert api.get(f"{OF_JOB}?start_ms=5").status_code == 400
    path = "/api/v1/jobs/nobody/incidents?start_ms=0&end_ms=5"
    assert api.get(path).status_code == 404


def test_incidents_of_all_jobs_come_newest_first_page_by_page(api: Client) -> None:
    made = [incident(at) for at in range(5)]
    seen: list[int] = []
    cursor = ""
    while cursor is not None:
        body = api.get(f"{INCIDENTS}?limit=2&cursor={cursor}").json()
        assert body["count"] == 5
        seen += [item["id"] for item in body["items"]]
        cursor = body["next"]
    assert seen == [each.pk for each in reversed(made)]


def test_incidents_are_found_by_state_job_and_kind(api: Client) -> None:
    mine = incident(state="resolved", kind="straggler")
    other = incident(job_id="orders.raw")
    assert ids(api.get(f"{INCIDENTS}?state=open")) == [other.pk]
    assert ids(api.get(f"{INCIDENTS}?state=&job={ANNOUNCEMENT.job_id}")) == [mine.pk]
    assert ids(api.get(f"{INCIDENTS}?kind=straggler")) == [mine.pk]
    assert ids(api.get(f"{INCIDENTS}?kind=straggler&state=open")) == []
    assert api.get(f"{INCIDENTS}?state=odd").status_code == 400


def test_somebody_says_that_they_have_seen_it(api: Client) -> None:
    made = incident()
    body = acknowledge(api, made.pk, reason="on it").json()
    assert (body["state"], body["acknowledged_by"]) == ("acknowledged", "eve")
    assert body["acknowledged_ms"] > 0
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.job, entry.reason) == (
        "incident.acknowledged",
        ANNOUNCEMENT.job_id,
        "on it",
    )
    assert (entry.before, entry.after) == ({"state": "open"}, {"state": "acknowledged"})


@pytest.mark.parametrize("state", ["open", "acknowledged"])
def test_somebody_says_that_it_is_over_and_others_are_told(api: Client, state: str) -> None:
    endpoint()
    facts = [{"name": "tasks", "value": "12"}]
    made = incident(1_000, state=state, evidence={"facts": facts}, severity="critical")
    body = say(api, made.pk, "resolve", reason="more memory").json()
    assert body["state"] == "resolved"
    assert body["end_ms"] > 1_000
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.reason) == ("incident.resolved", "more memory")
    assert (entry.before, entry.after) == ({"state": state}, {"state": "resolved"})
    told = AlertEvent.objects.get()
    assert (told.type, told.event["incident_id"]) == ("incident.resolved", made.pk)
    assert told.event["link"] == f"/incidents/{made.pk}"
    assert told.event["evidence"] == {"tasks": "12"}

    again = say(api, made.pk, "resolve", reason="")
    assert again.status_code == 409
    assert again.json()["current"]["end_ms"] == body["end_ms"]
    assert AlertEvent.objects.count() == AuditEntry.objects.count() == 1


def test_what_is_no_longer_open_is_409_with_what_it_is_now(api: Client) -> None:
    made = incident(state="resolved")
    response = acknowledge(api, made.pk, reason="")
    assert response.status_code == 409
    assert response.json()["current"]["state"] == "resolved"
    assert not AuditEntry.objects.exists()


def test_a_viewer_may_look_and_not_acknowledge(api: Client) -> None:
    Person.objects.update(role=Role.VIEWER)
    made = incident()
    assert acknowledge(api, made.pk, reason="").status_code == 403
    assert say(api, made.pk, "resolve", reason="").status_code == 403
    assert api.get(f"{INCIDENTS}/{made.pk}").json()["state"] == "open"


def test_an_unknown_incident_is_404(api: Client) -> None:
    assert api.get(f"{INCIDENTS}/12345").status_code == 404
    assert acknowledge(api, 12345, reason="").status_code == 404
    assert say(api, 12345, "resolve", reason="").status_code == 404
    assert api.get(f"{INCIDENTS}/99999999999999999999").status_code == 400


@pytest.mark.parametrize("path", [INCIDENTS, f"{INCIDENTS}/1", f"{OF_JOB}?start_ms=0&end_ms=5"])
def test_without_a_login_there_is_only_401(client: Client, path: str) -> None:
    assert client.get(path).status_code == 401
