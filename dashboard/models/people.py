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
    """A user's role. Not Django's groups: a user can be in several groups but has one role."""

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
    """A user without a row is a viewer, so that one created in a shell can look and do no harm; a
    superuser is an admin, so that the first user needs no second step."""
    if user.is_superuser:
        return Role.ADMIN
    try:
        return Role(user.person.role)
    except Person.DoesNotExist:
        return Role.VIEWER


def role_of(user: AbstractBaseUser | AnonymousUser) -> Role | None:
    """The user's present role; None if not logged in or disabled."""
    return assigned_role(user) if isinstance(user, User) and user.is_active else None
