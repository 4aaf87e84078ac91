"""Keys for programs that use the API in the name of a person."""

from typing import ClassVar

from django.conf import settings
from django.db import models


class Scope(models.TextChoices):
    READ = "read"
    OPERATE = "operate"


class Token(models.Model):
    """An API token. Only the SHA-256 of its secret is stored.

    A slow, salted hash is for passwords, which can be guessed. This secret has 240 random bits:
    there is nothing to guess, one fast hash hides it, and a token is found by an index on it, so
    that no comparison can be timed.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="tokens"
    )
    name = models.CharField(max_length=80)
    scope = models.CharField(max_length=8, choices=Scope.choices)
    prefix = models.CharField(max_length=16)
    digest = models.CharField(max_length=64, unique=True)
    created_ms = models.BigIntegerField()
    expires_ms = models.BigIntegerField()
    last_used_ms = models.BigIntegerField(null=True)

    class Meta:
        ordering: ClassVar = ["-id"]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"
