import pytest
from django.test import Client

from dashboard.accounts import audit
from dashboard.models import Role
from tests.dashboard.users import logged_in, person, problem, with_token

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("memory_store")]

AUDIT = "/api/v1/audit"


@pytest.fixture
def root() -> Client:
    return logged_in(person("root", Role.ADMIN))


@pytest.fixture(autouse=True)
def entries() -> None:
    audit.record("nadia", "slo.changed", "orders.scored", "orders.scored", {"p99_ms": 50}, None)
    audit.record("root", "user.role", "nadia", None, {"role": "viewer"}, {"role": "admin"}, "why")
    audit.record("nadia (ct_abc…)", "technique.changed", "salt", "orders.raw")
    audit.record("nadia2", "technique.changed", "salt", "orders.raw")


def subjects(client: Client, query: str = "") -> list[str]:
    return [f"{e['who']} {e['action']}" for e in client.get(f"{AUDIT}?{query}").json()["items"]]


def test_entries_come_newest_first_with_all_they_say(root: Client) -> None:
    items = root.get(AUDIT).json()["items"]
    assert [item["who"] for item in items] == ["nadia2", "nadia (ct_abc…)", "root", "nadia"]
    assert items[2] == {
        "id": items[2]["id"],
        "at_ms": items[2]["at_ms"],
        "who": "root",
        "action": "user.role",
        "subject": "nadia",
        "job": None,
        "before": {"role": "viewer"},
        "after": {"role": "admin"},
        "reason": "why",
    }


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("job=orders.scored", ["nadia slo.changed"]),
        ("action=user.role", ["root user.role"]),
        ("action=user", ["root user.role"]),
        ("action=use", []),
        ("who=nadia", ["nadia (ct_abc…) technique.changed", "nadia slo.changed"]),
        ("who=nadia&action=slo", ["nadia slo.changed"]),
        ("job=orders", []),
    ],
)
def test_they_can_be_filtered(root: Client, query: str, found: list[str]) -> None:
    assert subjects(root, query) == found


def test_who_is_no_admin_sees_only_what_was_done_to_jobs() -> None:
    operator = person("eve", Role.OPERATOR)
    for client in (logged_in(operator), with_token(operator)):
        assert "root user.role" not in subjects(client)
        assert len(subjects(client)) == 3
        assert subjects(client, "action=user") == []


def test_pages_go_on_where_the_last_one_ended(root: Client) -> None:
    first = root.get(f"{AUDIT}?limit=3").json()
    rest = root.get(f"{AUDIT}?limit=3&cursor={first['next']}").json()
    assert len(first["items"]) == 3
    assert [item["action"] for item in rest["items"]] == ["slo.changed"]
    assert rest["next"] is None


@pytest.mark.parametrize(
    ("query", "field"), [("limit=0", "limit"), ("limit=501", "limit"), ("cursor=x", "cursor")]
)
def test_what_makes_no_sense_is_400(root: Client, query: str, field: str) -> None:
    assert problem(root.get(f"{AUDIT}?{query}"), 400)["faults"][0]["field"] == field


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_nothing_there_can_be_changed(root: Client, method: str) -> None:
    response = getattr(root, method)(AUDIT)
    problem(response, 405)
    assert response["Allow"] == "GET"
