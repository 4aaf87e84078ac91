from io import StringIO

import pytest
from django.contrib.auth import authenticate, get_user_model
from django.core.management import call_command

pytestmark = pytest.mark.django_db


def ensure(*words: str) -> str:
    said = StringIO()
    call_command("ensure_operator", *words, stdout=said)
    return said.getvalue()


def test_it_creates_the_operator_and_says_a_password_that_works() -> None:
    login, password = (line.partition(": ")[2] for line in ensure().splitlines())
    assert login == "operator"
    assert len(password) >= 16
    assert authenticate(username=login, password=password) is not None


def test_it_says_nothing_where_the_operator_exists_and_keeps_the_password() -> None:
    password = ensure().splitlines()[1].partition(": ")[2]
    assert ensure() == ""
    assert authenticate(username="operator", password=password) is not None


def test_two_operators_get_two_passwords() -> None:
    assert ensure().splitlines()[1] != ensure("--username", "second").splitlines()[1]


def test_it_makes_no_operator_where_somebody_can_log_in_already() -> None:
    get_user_model().objects.create_user(username="alice", password="something long")
    assert ensure("--if-no-users") == ""
    assert list(get_user_model().objects.values_list("username", flat=True)) == ["alice"]
