"""People: added, given a role, disabled. Each change is in the audit with who made it."""

import secrets
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Q

from dashboard.accounts import audit
from dashboard.models import Person, Role, assigned_role

PASSWORD_BYTES = 12
_IS_ADMIN = Q(is_superuser=True) | Q(person__role=Role.ADMIN)


class NameTaken(Exception):
    """A user with that name exists already."""


class NotNow(Exception):
    """The change would lock people out."""


@dataclass(frozen=True)
class Added:
    user: User
    password: str  # shown once, to be handed over


def add(username: str, role: Role, who: str, reason: str = "") -> Added:
    password = secrets.token_urlsafe(PASSWORD_BYTES)
    try:
        with transaction.atomic():
            # Two names that differ in case alone are a trap for whoever reads the audit.
            if User.objects.filter(username__iexact=username).exists():
                raise NameTaken(username)
            user = User.objects.create_user(username=username, password=password)
            Person.objects.create(user=user, role=role)
            audit.record(who, "user.added", username, after={"role": role}, reason=reason)
    except IntegrityError:
        raise NameTaken(username) from None
    return Added(user, password)


def change(
    user_id: int,
    by: User,
    *,
    role: Role | None = None,
    active: bool | None = None,
    reason: str = "",
) -> User:
    """Changes the fields that are not None. Raises `User.DoesNotExist` or `NotNow`."""
    with transaction.atomic():
        # One such change at a time, so that two admins cannot remove each other at once. The rows
        # are locked before they are read: a query that waited would still see the old roles.
        list(User.objects.select_for_update().order_by("pk").values_list("pk"))
        user = User.objects.get(pk=user_id)
        before = told(user)
        if role is not None and role != assigned_role(user):
            Person.objects.update_or_create(user=user, defaults={"role": role})
            user = User.objects.get(pk=user_id)
            # From here on the role counts, whatever made this an admin before.
            user.is_superuser = False
        if active is not None:
            user.is_active = active
        user.save(update_fields=["is_superuser", "is_active"])
        after = told(user)
        if after == before:
            return user
        if user == by:
            raise NotNow("nobody changes their own role; ask another admin")
        if not User.objects.filter(_IS_ADMIN, is_active=True).exists():
            raise NotNow("this is the last admin")
        audit.record(by.username, _verb(before, after), user.username, None, before, after, reason)
    return user


def reset_password(user_id: int, by: User, reason: str = "") -> Added:
    """Sets a new password, which ends the user's sessions. Raises the same as `change`."""
    password = secrets.token_urlsafe(PASSWORD_BYTES)
    with transaction.atomic():
        user = User.objects.get(pk=user_id)
        if user == by:
            # There the old one is asked for, which somebody at an open browser does not know.
            raise NotNow("change your own password under Settings")
        user.set_password(password)
        user.save(update_fields=["password"])
        audit.record(by.username, "user.password-reset", user.username, reason=reason)
    return Added(user, password)


def told(user: User) -> dict[str, object]:
    return {"role": assigned_role(user).value, "active": user.is_active}


def _verb(before: dict[str, object], after: dict[str, object]) -> str:
    if before["active"] != after["active"]:
        return "user.enabled" if after["active"] else "user.disabled"
    return "user.role"
