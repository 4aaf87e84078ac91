import pytest
from pytest_django.fixtures import Settings


@pytest.fixture(autouse=True)
def _quick_passwords(settings: Settings) -> None:
    """The real hash is slow on purpose: a second per login, and here are hundreds."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
