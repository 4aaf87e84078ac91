from typing import Any

from django.http import HttpRequest
from ninja import Router, Schema

from dashboard.accounts.roles import Role, caller

router = Router(tags=["people"])


class Can(Schema):
    operate: bool
    administer: bool


class MeOut(Schema):
    username: str
    role: Role
    can: Can


@router.get("", response=MeOut, summary="Who am I, and what may I do")
def me(request: HttpRequest) -> dict[str, Any]:
    """The user and role of the caller; with a token, the role that the token has."""
    asking = caller(request)
    return {
        "username": asking.user.username,
        "role": asking.role,
        "can": {
            "operate": asking.role.includes(Role.OPERATOR),
            "administer": asking.role.includes(Role.ADMIN),
        },
    }
