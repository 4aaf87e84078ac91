"""What a person may do. Who they are, and their password, is Django's `User`."""

from typing import ClassVar

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.db import models


class Role(models.TextChoices):
    """Each may do all that the ones before it may."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMIN = "admin"

    @property
    def rank(self) -> int:
        return list(Role).index(self)

    def includes(self, other: "Role") -> bool:
        return self.rank >= other.rank


class Person(models.Model):
    """A row of its own and not Django's groups: of groups one can have two, of roles one."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="person"
    )
    role = models.CharField(max_length=8, choices=Role.choices, default=Role.VIEWER)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(role__in=Role.values), name="a_role_that_there_is"
            )
        ]

    def __str__(self) -> str:
        return f"{self.user_id} {self.role}"


def assigned_role(user: User) -> Role:
    """Somebody without a row is a viewer, so that a user made in a shell can look and do no harm;
    a superuser is an admin, so that the first one needs no second step."""
    if user.is_superuser:
        return Role.ADMIN
    try:
        return Role(user.person.role)
    except Person.DoesNotExist:
        return Role.VIEWER


def role_of(user: AbstractBaseUser | AnonymousUser) -> Role | None:
    """What they may do now; None for who is not logged in or was disabled."""
    return assigned_role(user) if isinstance(user, User) and user.is_active else None
