import pytest

from dashboard.models import Role, Scope
from tests.dashboard.users import logged_in, person, with_token

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("memory_store")]

CAN = {
    Role.VIEWER: {"operate": False, "administer": False},
    Role.OPERATOR: {"operate": True, "administer": False},
    Role.ADMIN: {"operate": True, "administer": True},
}


@pytest.mark.parametrize("role", Role)
def test_it_says_who_and_what_they_may(role: Role) -> None:
    body = logged_in(person("nadia", role)).get("/api/v1/me").json()
    assert body == {"username": "nadia", "role": role, "can": CAN[role]}


@pytest.mark.parametrize(
    ("owner", "scope", "role"),
    [
        (Role.ADMIN, Scope.READ, Role.VIEWER),
        (Role.ADMIN, Scope.OPERATE, Role.OPERATOR),
        (Role.OPERATOR, Scope.OPERATE, Role.OPERATOR),
        (Role.VIEWER, Scope.OPERATE, Role.VIEWER),
    ],
)
def test_with_a_token_it_says_what_the_token_may(owner: Role, scope: Scope, role: Role) -> None:
    body = with_token(person("nadia", owner), scope).get("/api/v1/me").json()
    assert (body["role"], body["can"]) == (role, CAN[role])
