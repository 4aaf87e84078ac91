import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.db import IntegrityError

from dashboard.accounts.roles import Role, role_of
from dashboard.models import Person
from tests.dashboard.users import person

pytestmark = pytest.mark.django_db


def test_each_role_includes_those_before_it() -> None:
    assert Role.ADMIN.includes(Role.OPERATOR)
    assert Role.OPERATOR.includes(Role.OPERATOR)
    assert not Role.VIEWER.includes(Role.OPERATOR)


@pytest.mark.parametrize("role", Role)
def test_a_person_has_the_role_they_were_given(role: Role) -> None:
    assert role_of(person("eve", role)) == role


def test_somebody_without_a_role_is_a_viewer() -> None:
    assert role_of(User.objects.create_user("eve")) == Role.VIEWER


def test_a_superuser_is_an_admin() -> None:
    assert role_of(User.objects.create_superuser("root")) == Role.ADMIN


def test_who_is_disabled_or_not_logged_in_has_none() -> None:
    eve = person("eve", Role.ADMIN)
    eve.is_active = False
    assert role_of(eve) is None
    assert role_of(AnonymousUser()) is None


def test_the_database_knows_no_other_roles() -> None:
    with pytest.raises(IntegrityError):
        Person.objects.create(user=User.objects.create_user("eve"), role="owner")
