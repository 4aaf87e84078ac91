import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.test import Client

from dashboard.models import AuditEntry
from dashboard.web.rate_limits import LOGIN_ACCOUNT
from tests.dashboard.users import PASSWORD, logged_in, person

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("memory_store")]

NEW = "quite another one"


@pytest.fixture
def nadia() -> User:
    return person("nadia")


@pytest.fixture
def page(nadia: User) -> Client:
    return logged_in(nadia)


def change(page: Client, old: str = PASSWORD, new: str = NEW, again: str = NEW) -> int:
    body = {"old_password": old, "new_password1": new, "new_password2": again}
    response = page.post("/settings", body)
    return response.status_code


def test_a_password_is_changed_and_other_sessions_end(page: Client, nadia: User) -> None:
    elsewhere = logged_in(nadia)
    assert change(page) == 302
    assert authenticate(username="nadia", password=NEW) is not None
    assert b"was changed" in page.get("/settings?changed").content
    assert elsewhere.get("/settings").status_code == 302
    assert AuditEntry.objects.get().action == "user.password-changed"


@pytest.mark.parametrize(
    ("old", "new", "again"),
    [("guess", NEW, NEW), (PASSWORD, NEW, "other"), (PASSWORD, "short", "short")],
)
def test_what_does_not_fit_is_said_and_changes_nothing(
    page: Client, old: str, new: str, again: str
) -> None:
    response = page.post(
        "/settings", {"old_password": old, "new_password1": new, "new_password2": again}
    )
    assert b"field-error" in response.content
    assert authenticate(username="nadia", password=PASSWORD) is not None
    assert not AuditEntry.objects.exists()


@pytest.mark.usefixtures("long_window")
def test_somebody_at_an_open_browser_cannot_guess_the_password_either(page: Client) -> None:
    for _ in range(LOGIN_ACCOUNT.most):
        assert change(page, old="guess") == 200
    assert change(page) == 429
    assert authenticate(username="nadia", password=PASSWORD) is not None
