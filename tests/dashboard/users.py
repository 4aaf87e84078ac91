"""People of each role and clients that act as them, for tests of what each may do."""

import json
from typing import Any

from django.contrib.auth.models import User
from django.test import Client

from dashboard.accounts import tokens
from dashboard.models import Person, Role, Scope

PASSWORD = "a long enough one"


def person(name: str, role: Role = Role.VIEWER) -> User:
    user = User.objects.create_user(name, password=PASSWORD)
    Person.objects.create(user=user, role=role)
    return user


def logged_in(user: User, **options: Any) -> Client:
    client = Client(**options)
    client.force_login(user)
    return client


def with_token(user: User, scope: Scope = Scope.READ) -> Client:
    made = tokens.make(user, "a script", scope)
    return Client(headers={"Authorization": f"Bearer {made.secret}"})


def problem(response: Any, status: int) -> dict[str, Any]:
    assert response.status_code == status, response.content
    assert response["Content-Type"] == "application/problem+json"
    body: dict[str, Any] = json.loads(response.content)
    assert body["status"] == status
    assert body.keys() >= {"title", "detail"}
    return body
