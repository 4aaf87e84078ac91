"""API tokens: made, found by their secret, revoked."""

import hashlib
import secrets
import time
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q

from dashboard.accounts import audit
from dashboard.models import Scope, Token

START = "ct_"
SECRET_BYTES = 30  # 40 characters of base64
SHOWN_CHARACTERS = 8
DAY_MS = 86_400_000
DEFAULT_DAYS = 90
LONGEST_DAYS = 365
MOST_PER_PERSON = 50
# Not updated more often: a database write per request would cost more than the request itself.
NOTE_USE_EVERY_MS = 60_000


class TooManyTokens(Exception):
    """The user already has the maximum number of tokens."""


@dataclass(frozen=True)
class Made:
    token: Token
    secret: str  # shown once, kept nowhere


def make(user: User, name: str, scope: Scope, days: int = DEFAULT_DAYS) -> Made:
    secret = START + secrets.token_urlsafe(SECRET_BYTES)
    now_ms = _now_ms()
    with transaction.atomic():
        # The lock keeps the limit when two requests arrive at the same time.
        User.objects.select_for_update().get(pk=user.pk)
        if user.tokens.count() >= MOST_PER_PERSON:
            raise TooManyTokens(f"{MOST_PER_PERSON} tokens are the most; revoke one first")
        token = Token.objects.create(
            user=user,
            name=name,
            scope=scope,
            prefix=secret[: len(START) + SHOWN_CHARACTERS],
            digest=_digest(secret),
            created_ms=now_ms,
            expires_ms=now_ms + days * DAY_MS,
        )
        audit.record(user.username, "token.made", str(token), after=_told(token))
    return Made(token, secret)


def find(secret: str) -> Token | None:
    """Returns the token with this secret, None if there is none or it has expired."""
    tokens = Token.objects.select_related("user__person")
    return tokens.filter(digest=_digest(secret), expires_ms__gt=_now_ms()).first()


def note_use(token: Token) -> None:
    now_ms = _now_ms()
    before_ms = now_ms - NOTE_USE_EVERY_MS
    if token.last_used_ms is None or token.last_used_ms < before_ms:
        # The condition is repeated in the UPDATE because other requests may do the same right now.
        stale = Q(last_used_ms=None) | Q(last_used_ms__lt=before_ms)
        Token.objects.filter(stale, pk=token.pk).update(last_used_ms=now_ms)


def revoke(token: Token, who: str, reason: str = "") -> None:
    with transaction.atomic():
        deleted, _ = Token.objects.filter(pk=token.pk).delete()
        if deleted:
            audit.record(who, "token.revoked", str(token), before=_told(token), reason=reason)


def _told(token: Token) -> dict[str, object]:
    return {
        "scope": token.scope,
        "expires_ms": token.expires_ms,
        "last_used_ms": token.last_used_ms,
    }


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
