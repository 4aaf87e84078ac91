from typing import Any

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.test import Client

from dashboard.accounts import people
from dashboard.accounts.roles import role_of
from dashboard.models import AuditEntry, Role
from tests.dashboard.users import PASSWORD, logged_in, person, problem

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("memory_store")]

USERS = "/api/v1/users"


@pytest.fixture
def root() -> User:
    return person("root", Role.ADMIN)


@pytest.fixture
def api(root: User) -> Client:
    return logged_in(root)


def patch(api: Client, user: User, **body: Any) -> Any:
    return api.patch(f"{USERS}/{user.pk}", body, "application/json")


@pytest.mark.parametrize("role", [Role.VIEWER, Role.OPERATOR])
def test_only_admins_may_and_the_answer_says_so(role: Role) -> None:
    eve = person("eve", role)
    client = logged_in(eve)
    for response in (
        client.get(USERS),
        client.post(USERS, {"username": "x"}, "application/json"),
        patch(client, eve, role="admin"),
        client.post(f"{USERS}/{eve.pk}/password", {}, "application/json"),
    ):
        assert "an admin" in problem(response, 403)["detail"]
    assert role_of(User.objects.get(pk=eve.pk)) == role


def test_somebody_added_can_log_in_with_the_password_shown_once(api: Client) -> None:
    body = {"username": "nadia", "role": "operator", "reason": "new here"}
    response = api.post(USERS, body, "application/json")
    assert response.status_code == 201
    added = response.json()
    assert authenticate(username="nadia", password=added["password"]) is not None
    assert added["role"] == "operator"
    assert "password" not in api.get(USERS).json()["items"][0]
    entry = AuditEntry.objects.get()
    assert (entry.who, entry.action, entry.subject) == ("root", "user.added", "nadia")
    assert (entry.after, entry.reason) == ({"role": "operator"}, "new here")


@pytest.mark.parametrize("name", ["", "a b", "a/b", "é", "x" * 151, "a\nb", "a\n"])
def test_a_name_that_is_none_is_400(api: Client, name: str) -> None:
    response = api.post(USERS, {"username": name}, "application/json")
    assert problem(response, 400)["faults"][0]["field"] == "username"


@pytest.mark.parametrize("name", ["root", "ROOT"])
def test_a_name_that_is_taken_is_409(api: Client, name: str) -> None:
    response = api.post(USERS, {"username": name}, "application/json")
    assert problem(response, 409)["current"]["username"] == "root"


def test_a_role_is_changed_and_the_audit_says_from_what_to_what(api: Client) -> None:
    eve = person("eve")
    assert patch(api, eve, role="operator", reason="on call").json()["role"] == "operator"
    assert role_of(User.objects.get(pk=eve.pk)) == Role.OPERATOR
    entry = AuditEntry.objects.get()
    assert entry.action == "user.role"
    assert entry.before == {"role": "viewer", "active": True}
    assert entry.after == {"role": "operator", "active": True}
    assert entry.reason == "on call"


def test_nothing_changed_is_nothing_in_the_audit(api: Client) -> None:
    assert patch(api, person("eve"), role="viewer", active=True).status_code == 200
    assert not AuditEntry.objects.exists()


def test_a_superuser_can_be_made_a_viewer(api: Client) -> None:
    first = User.objects.create_superuser("operator")
    assert patch(api, first, role="viewer").json()["role"] == "viewer"
    assert role_of(User.objects.get(pk=first.pk)) == Role.VIEWER


def test_who_is_disabled_is_logged_out_until_enabled(api: Client) -> None:
    eve = person("eve", Role.OPERATOR)
    client = logged_in(eve)
    assert patch(api, eve, active=False).json()["active"] is False
    problem(client.get("/api/v1/me"), 401)
    assert client.get("/").status_code == 302
    assert authenticate(username="eve", password=PASSWORD) is None
    patch(api, eve, active=True)
    assert authenticate(username="eve", password=PASSWORD) is not None
    actions = [entry.action for entry in AuditEntry.objects.all()]
    assert actions == ["user.enabled", "user.disabled"]


@pytest.mark.parametrize("change", [{"role": "viewer"}, {"active": False}])
def test_nobody_locks_themselves_out(api: Client, root: User, change: dict[str, Any]) -> None:
    person("second", Role.ADMIN)
    assert problem(patch(api, root, **change), 409)["current"]["role"] == "admin"
    assert role_of(User.objects.get(pk=root.pk)) == Role.ADMIN
    assert not AuditEntry.objects.exists()


def test_the_last_admin_stays(root: User) -> None:
    gone = person("gone", Role.ADMIN)
    User.objects.filter(pk=gone.pk).update(is_active=False)
    with pytest.raises(people.NotNow, match="last admin"):
        people.change(root.pk, gone, role=Role.VIEWER)
    assert role_of(User.objects.get(pk=root.pk)) == Role.ADMIN


def test_a_new_password_ends_the_old_one_and_its_sessions(api: Client) -> None:
    eve = person("eve")
    client = logged_in(eve)
    reset = api.post(f"{USERS}/{eve.pk}/password", {}, "application/json").json()
    assert authenticate(username="eve", password=PASSWORD) is None
    assert authenticate(username="eve", password=reset["password"]) is not None
    problem(client.get("/api/v1/me"), 401)
    entry = AuditEntry.objects.get()
    assert entry.action == "user.password-reset"
    assert reset["password"] not in f"{entry.before}{entry.after}{entry.reason}"


def test_ones_own_password_is_not_changed_here_but_with_the_old_one(
    api: Client, root: User
) -> None:
    problem(api.post(f"{USERS}/{root.pk}/password", {}, "application/json"), 409)
    assert authenticate(username="root", password=PASSWORD) is not None


@pytest.mark.parametrize("user_id", ["999", "9223372036854775807"])
def test_an_unknown_id_is_404(api: Client, user_id: str) -> None:
    problem(api.patch(f"{USERS}/{user_id}", {}, "application/json"), 404)
    problem(api.post(f"{USERS}/{user_id}/password", {}, "application/json"), 404)


def test_the_list_goes_on_where_it_ended(api: Client) -> None:
    for number in range(4):
        person(f"eve{number}")
    first = api.get(f"{USERS}?limit=3").json()
    rest = api.get(f"{USERS}?limit=3&cursor={first['next']}").json()
    names = [user["username"] for user in first["items"] + rest["items"]]
    assert names == ["eve3", "eve2", "eve1", "eve0", "root"]
    assert rest["next"] is None
