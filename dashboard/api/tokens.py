import time
from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Field, Router, Schema, Status
from ninja.errors import HttpError
from pydantic import StringConstraints

from dashboard.accounts import tokens as kept
from dashboard.accounts.roles import Role, caller, everybody_in_person
from dashboard.api.fields import ReasonQuery, RowId
from dashboard.api.problems import Conflict
from dashboard.models import Scope, Token

router = Router(tags=["tokens"], auth=everybody_in_person)

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=80)]


class TokenOut(Schema):
    id: int
    name: str
    scope: Scope
    prefix: str
    created_ms: int
    expires_ms: int
    last_used_ms: int | None
    expired: bool


class TokensOut(Schema):
    items: list[TokenOut]


class TokenIn(Schema):
    name: Name
    scope: Scope = Scope.READ
    days: int = Field(kept.DEFAULT_DAYS, ge=1, le=kept.LONGEST_DAYS)


class TokenWithSecret(TokenOut):
    secret: str
    """Shown this once."""


@router.get("", response=TokensOut, summary="Your tokens")
def tokens(request: HttpRequest) -> dict[str, Any]:
    return {"items": [_shown(token) for token in caller(request).user.tokens.all()]}


@router.post("", response={201: TokenWithSecret}, summary="Make a token")
def make_token(request: HttpRequest, body: TokenIn) -> Status[dict[str, Any]]:
    """The token may do what its scope and your role allow. Its secret is shown only once."""
    asking = caller(request)
    if body.scope == Scope.OPERATE and not asking.role.includes(Role.OPERATOR):
        raise HttpError(403, "a token that operates takes an operator; you are a viewer")
    try:
        made = kept.make(asking.user, body.name, body.scope, body.days)
    except kept.TooManyTokens as error:
        raise Conflict(str(error), tokens(request)) from None
    return Status(201, {**_shown(made.token), "secret": made.secret})


@router.delete("/{token_id}", response={204: None}, summary="Revoke a token of yours")
def revoke_token(request: HttpRequest, token_id: RowId, reason: ReasonQuery = "") -> Status[None]:
    asking = caller(request)
    try:
        token = asking.user.tokens.get(pk=token_id)
    except Token.DoesNotExist:
        raise HttpError(404, f"no token {token_id} of yours") from None
    kept.revoke(token, asking.who, reason)
    return Status(204, None)


def _shown(token: Token) -> dict[str, Any]:
    return {
        "id": token.pk,
        "name": token.name,
        "scope": token.scope,
        "prefix": token.prefix,
        "created_ms": token.created_ms,
        "expires_ms": token.expires_ms,
        "last_used_ms": token.last_used_ms,
        "expired": token.expires_ms <= time.time_ns() // 1_000_000,
    }
