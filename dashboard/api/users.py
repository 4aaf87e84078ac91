from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from django.contrib.auth.models import User
from django.http import HttpRequest
from ninja import Router, Schema, Status
from ninja.errors import HttpError
from pydantic import StringConstraints

from dashboard.accounts import people
from dashboard.accounts.roles import Role, admins, caller
from dashboard.api.fields import Reason, RowId
from dashboard.api.paging import Cursor, Limit, newest_first
from dashboard.api.problems import Conflict
from dashboard.models import assigned_role

router = Router(tags=["people"], auth=admins)

# The pattern of Django's own validator, which `create_user` does not call.
Username = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.@+-]+$", max_length=150)]


class UserOut(Schema):
    id: int
    username: str
    role: Role
    active: bool
    joined_ms: int
    last_login_ms: int | None


class UsersOut(Schema):
    items: list[UserOut]
    next: str | None


class UserIn(Schema):
    username: Username
    role: Role = Role.VIEWER
    reason: Reason = ""


class UserChange(Schema):
    role: Role | None = None
    active: bool | None = None
    reason: Reason = ""


class ReasonIn(Schema):
    reason: Reason = ""


class UserWithPassword(UserOut):
    password: str
    """Shown this once."""


@router.get("", response=UsersOut, summary="All people")
def users(request: HttpRequest, limit: Limit = 100, cursor: Cursor = None) -> dict[str, Any]:
    page = newest_first(User.objects.select_related("person"), cursor, limit)
    return {"items": [_shown(user) for user in page.items], "next": page.next}


@router.post("", response={201: UserWithPassword}, summary="Add somebody")
def add_user(request: HttpRequest, body: UserIn) -> Status[dict[str, Any]]:
    """The answer holds a password to hand over. It is shown only once."""
    try:
        added = people.add(body.username, body.role, caller(request).who, body.reason)
    except people.NameTaken:
        taken = User.objects.get(username__iexact=body.username)
        raise Conflict(f"there is somebody named {taken.username}", _shown(taken)) from None
    return Status(201, {**_shown(added.user), "password": added.password})


@router.patch("/{user_id}", response=UserOut, summary="Change a role, disable or enable")
def change_user(request: HttpRequest, user_id: RowId, body: UserChange) -> dict[str, Any]:
    by = caller(request).user
    with _told(user_id):
        changed = people.change(user_id, by, role=body.role, active=body.active, reason=body.reason)
    return _shown(changed)


@router.post("/{user_id}/password", response=UserWithPassword, summary="Give a new password")
def reset_password(request: HttpRequest, user_id: RowId, body: ReasonIn) -> dict[str, Any]:
    """The new password is shown only once. The user's sessions end; tokens stay valid."""
    with _told(user_id):
        reset = people.reset_password(user_id, caller(request).user, body.reason)
    return {**_shown(reset.user), "password": reset.password}


@contextmanager
def _told(user_id: int) -> Iterator[None]:
    try:
        yield
    except User.DoesNotExist:
        raise HttpError(404, f"no user {user_id}") from None
    except people.NotNow as error:
        raise Conflict(str(error), _shown(User.objects.get(pk=user_id))) from None


def _shown(user: User) -> dict[str, Any]:
    return {
        "id": user.pk,
        "username": user.username,
        "role": assigned_role(user),
        "active": user.is_active,
        "joined_ms": int(user.date_joined.timestamp() * 1000),
        "last_login_ms": int(user.last_login.timestamp() * 1000) if user.last_login else None,
    }
