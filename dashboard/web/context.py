"""Context variables of every template."""

from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest

from dashboard.accounts.roles import Role, role_of


def role(request: HttpRequest) -> dict[str, Any]:
    """`role` is empty without a login. It only hides controls; permissions are the API's."""
    found = role_of(getattr(request, "user", AnonymousUser()))
    return {
        "role": found.value if found else "",
        "can_operate": found is not None and found.includes(Role.OPERATOR),
        "can_administer": found is not None and found.includes(Role.ADMIN),
    }
