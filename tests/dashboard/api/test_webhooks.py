import time
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django.fixtures import Settings

from dashboard.alerts import endpoints
from dashboard.environment import networks
from dashboard.fleet import jobs
from dashboard.models import Attempt, AuditEntry, Delivery, Endpoint, Role, Scope
from tests.dashboard.alerts.made import endpoint
from tests.dashboard.users import logged_in, person, problem, with_token
from tests.factories import ANNOUNCEMENT

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("memory_store")]

WEBHOOKS = "/api/v1/webhooks"
URL = "https://hooks.example.org/services/T0/B0/s3cr3t"


@pytest.fixture
def olga() -> User:
    return person("olga", Role.OPERATOR)


@pytest.fixture
def api(olga: User) -> Client:
    return logged_in(olga)


@pytest.fixture
def viewer() -> Client:
    return logged_in(person("vera"))


def add(api: Client, **body: Any) -> dict[str, Any]:
    response = api.post(WEBHOOKS, {"name": "on call", "url": URL, **body}, "application/json")
    assert response.status_code == 201, response.content
    made: dict[str, Any] = response.json()
    return made


def change(api: Client, made: dict[str, Any], **body: Any) -> Any:
    wanted = {"version": made["version"], **body}
    return api.patch(f"{WEBHOOKS}/{made['id']}", wanted, "application/json")


def post(api: Client, path: str, **body: Any) -> Any:
    return api.post(f"/api/v1/{path}", body, "application/json")


def attempted(made: dict[str, Any]) -> Delivery:
    """A test of that endpoint to which the receiver answered."""
    now_ms = time.time_ns() // 1_000_000
    delivery = endpoints.send_test(made["id"], "olga", "", now_ms)
    Attempt.objects.create(
        delivery=delivery, number=1, at_ms=now_ms, duration_ms=12, status=500, response="inside"
    )
    return delivery


def test_the_secret_is_shown_once(api: Client) -> None:
    made = add(api)
    assert made["secret"].startswith("whsec_")
    (listed,) = api.get(WEBHOOKS).json()["items"]
    assert listed == {name: value for name, value in made.items() if name != "secret"}
    assert (listed["url"], listed["format"], listed["active"]) == (URL, "standard", True)


def test_a_viewer_sees_where_alerts_go_without_anything_secret(api: Client, viewer: Client) -> None:
    made = add(api, format="pagerduty", routing_key="R0UT1NG")
    response = viewer.get(WEBHOOKS)
    (listed,) = response.json()["items"]
    assert listed["url"] == "https://hooks.example.org/…"
    assert listed["has_routing_key"] is True
    for secret in ("s3cr3t", made["secret"], "R0UT1NG"):
        assert secret not in response.content.decode()


def test_a_viewer_changes_nothing(api: Client, viewer: Client) -> None:
    made = add(api)
    delivery = attempted(made)
    assert "operator" in problem(viewer.post(WEBHOOKS, {}, "application/json"), 403)["detail"]
    problem(change(viewer, made, name="x"), 403)
    problem(viewer.delete(f"{WEBHOOKS}/{made['id']}"), 403)
    for path in (f"webhooks/{made['id']}/rotate", f"webhooks/{made['id']}/test"):
        problem(post(viewer, path), 403)
    problem(post(viewer, f"deliveries/{delivery.pk}/replay"), 403)
    assert Endpoint.objects.get().name == "on call"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"url": "http://169.254.169.254/latest/meta-data/"}, "url"),
        ({"url": "http://2130706433/"}, "url"),
        ({"url": "http://user:password@hooks.example.org/"}, "url"),
        ({"url": "ftp://hooks.example.org/"}, "url"),
        ({"url": "https://hooks.example.org:22/"}, "url"),
        ({"url": "https://hooks.example.org/" + "x" * 2_000}, "url"),
        ({"url": ""}, "url"),
        ({"name": " "}, "name"),
        ({"format": "carrier pigeon"}, "format"),
        ({"format": "pagerduty"}, "routing_key"),
        ({"routing_key": "a b"}, "routing_key"),
        ({"job": "nobody"}, "job"),
        ({"events": ["incident.imagined"]}, "events.0"),
        ({"events": ["webhook.test"]}, "events"),
        ({"kinds": [""]}, "kinds.0"),
        ({"kinds": ["x"] * 51}, "kinds"),
        ({"least_severity": "fatal"}, "least_severity"),
    ],
)
def test_what_makes_no_sense_is_400_with_the_field_named(
    api: Client, body: dict[str, Any], field: str
) -> None:
    wanted = {"name": "on call", "url": URL, **body}
    faults = problem(api.post(WEBHOOKS, wanted, "application/json"), 400)["faults"]
    assert faults[0]["field"] == field
    assert not Endpoint.objects.exists()


def test_a_private_address_is_taken_where_the_setting_allows_it(
    api: Client, settings: Settings
) -> None:
    settings.WEBHOOK_ALLOWED_NETWORKS = networks("10.1.0.0/16")
    assert add(api, url="http://10.1.2.3:8080/hook")["url"] == "http://10.1.2.3:8080/hook"
    wanted = {"name": "x", "url": "http://10.2.0.1/"}
    problem(api.post(WEBHOOKS, wanted, "application/json"), 400)


def test_a_change_keeps_what_it_does_not_name(api: Client) -> None:
    jobs.record([ANNOUNCEMENT])
    made = add(api, kinds=["skew"], least_severity="warning")
    changed = change(api, made, job="orders.scored", events=["slo.violated"]).json()
    assert (changed["job"], changed["events"]) == ("orders.scored", ["slo.violated"])
    assert (changed["kinds"], changed["least_severity"]) == (["skew"], "warning")
    assert changed["version"] == made["version"] + 1
    assert change(api, changed, job="").json()["job"] is None


def test_the_later_of_two_operators_gets_409_with_what_is_there_now(api: Client) -> None:
    made = add(api)
    assert change(api, made, name="first").status_code == 200
    assert problem(change(api, made, name="second"), 409)["current"]["name"] == "first"


def test_a_change_is_held_to_the_same_rules(api: Client) -> None:
    made = add(api)
    problem(change(api, made, url="http://127.0.0.1/"), 400)
    assert (
        problem(change(api, made, format="pagerduty"), 400)["faults"][0]["field"] == "routing_key"
    )
    assert Endpoint.objects.get().url == URL


def test_rotation_gives_a_new_secret_and_keeps_the_old_one_for_a_day(api: Client) -> None:
    made = add(api)
    rotated = post(api, f"webhooks/{made['id']}/rotate").json()
    assert rotated["secret"] != made["secret"]
    kept = Endpoint.objects.get()
    now_ms = time.time_ns() // 1_000_000
    assert endpoints.valid_secrets(kept, now_ms) == (rotated["secret"], made["secret"])
    assert 0 <= now_ms + 86_400_000 - rotated["previous_secret_until_ms"] < 10_000
    assert endpoints.valid_secrets(kept, kept.previous_until_ms) == (rotated["secret"],)


def test_a_test_is_put_into_the_outbox(api: Client) -> None:
    made = add(api)
    response = post(api, f"webhooks/{made['id']}/test")
    assert response.status_code == 202
    assert (response.json()["type"], response.json()["state"]) == ("webhook.test", "pending")
    assert api.get(WEBHOOKS).json()["items"][0]["waiting"] == 1


def test_only_admins_read_what_a_receiver_answered(api: Client, viewer: Client) -> None:
    made = add(api)
    attempted(made)
    path = f"{WEBHOOKS}/{made['id']}/deliveries"
    for client in (viewer, api):
        response = client.get(path)
        assert response.json()["items"][0]["log"][0]["response"] is None
        assert response.json()["items"][0]["log"][0]["status"] == 500
        assert "inside" not in response.content.decode()
    admin = logged_in(person("root", Role.ADMIN))
    assert admin.get(path).json()["items"][0]["log"][0]["response"] == "inside"


def test_deliveries_come_in_pages(api: Client) -> None:
    made = add(api)
    sent = [attempted(made).pk for _ in range(3)]
    path = f"{WEBHOOKS}/{made['id']}/deliveries"
    first = api.get(f"{path}?limit=2").json()
    rest = api.get(f"{path}?limit=2&cursor={first['next']}").json()
    assert [each["id"] for each in first["items"] + rest["items"]] == sent[::-1]
    assert rest["next"] is None


def test_a_replay_is_due_at_once_under_the_same_id(api: Client) -> None:
    delivery = attempted(add(api))
    Delivery.objects.update(state="failed", because="gave up", done_ms=1, failed=40, first_ms=1)
    shown = post(api, f"deliveries/{delivery.pk}/replay", reason="mended").json()
    assert (shown["state"], shown["because"], shown["done_ms"]) == ("pending", "", None)
    assert shown["webhook_id"] == delivery.event.webhook_id
    again = Delivery.objects.get()
    assert again.failed == 0
    assert again.first_ms == again.due_ms > 1
    assert AuditEntry.objects.filter(action="webhook.replayed", reason="mended").exists()


def test_nothing_is_sent_to_an_endpoint_that_is_disabled(api: Client) -> None:
    made = add(api)
    delivery = attempted(made)
    changed = change(api, made, active=False).json()
    assert (changed["active"], changed["disabled_because"]) == (False, "by olga")
    assert Delivery.objects.get().state == "failed"
    problem(post(api, f"webhooks/{made['id']}/test"), 409)
    problem(post(api, f"deliveries/{delivery.pk}/replay"), 409)
    assert change(api, changed, active=True).json()["disabled_because"] == ""


def test_a_change_ends_a_pause(api: Client) -> None:
    made = add(api)
    later_ms = time.time_ns() // 1_000_000 + 60_000
    Endpoint.objects.update(paused_until_ms=later_ms)
    assert api.get(WEBHOOKS).json()["items"][0]["paused_until_ms"] == later_ms
    assert change(api, made, name="other").json()["paused_until_ms"] is None


def test_deleting_takes_the_log_along(api: Client) -> None:
    made = add(api)
    attempted(made)
    assert api.delete(f"{WEBHOOKS}/{made['id']}?reason=moved").status_code == 204
    assert not Attempt.objects.exists()
    problem(api.get(f"{WEBHOOKS}/{made['id']}/deliveries"), 404)
    assert AuditEntry.objects.get(action="webhook.deleted").reason == "moved"


def test_everything_is_in_the_audit_without_secrets(api: Client) -> None:
    made = add(api, reason="for the night")
    changed = change(api, made, url=URL + "2").json()
    post(api, f"webhooks/{made['id']}/rotate")
    post(api, f"webhooks/{made['id']}/test")
    change(api, {**changed, "version": changed["version"] + 1}, active=False)
    actions = [entry.action for entry in AuditEntry.objects.order_by("pk")]
    assert actions == [
        "webhook.added",
        "webhook.changed",
        "webhook.secret-rotated",
        "webhook.tested",
        "webhook.changed",
    ]
    url_changed = AuditEntry.objects.order_by("pk")[1]
    assert url_changed.before is not None
    assert url_changed.after is not None
    assert url_changed.before["url"] != url_changed.after["url"]
    told = str(list(AuditEntry.objects.values()))
    for secret in ("s3cr3t", made["secret"], *Endpoint.objects.values_list("secret", flat=True)):
        assert secret not in told


def test_an_unknown_one_is_404(api: Client) -> None:
    problem(change(api, {"id": 99, "version": 1}), 404)
    problem(api.delete(f"{WEBHOOKS}/99"), 404)
    for path in ("webhooks/99/rotate", "webhooks/99/test", "deliveries/99/replay"):
        problem(post(api, path), 404)


def test_a_token_that_operates_may_add_and_one_that_reads_may_not(olga: User) -> None:
    add(with_token(olga, Scope.OPERATE))
    reader = with_token(olga, Scope.READ)
    assert reader.get(WEBHOOKS).json()["items"][0]["url"] == "https://hooks.example.org/…"
    problem(reader.post(WEBHOOKS, {}, "application/json"), 403)


def test_there_is_an_end_to_how_many(api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoints, "MOST", 2)
    endpoint()
    add(api)
    body = problem(api.post(WEBHOOKS, {"name": "x", "url": URL}, "application/json"), 409)
    assert len(body["current"]["items"]) == 2
