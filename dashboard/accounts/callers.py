"""Who calls the API: a person who is logged in or a program with a token, and with which role."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest
from ninja.errors import AuthenticationError, HttpError
from ninja.security import APIKeyCookie, HttpBearer
from ninja.utils import check_csrf

from dashboard.accounts import tokens
from dashboard.models import Role, Scope, Token, role_of
from dashboard.web import rate_limits
from dashboard.web.rate_limits import Use

MAY = {Scope.READ: Role.VIEWER, Scope.OPERATE: Role.OPERATOR}
ARTICLE = {Role.VIEWER: "a viewer", Role.OPERATOR: "an operator", Role.ADMIN: "an admin"}


@dataclass(frozen=True)
class Caller:
    user: User
    role: Role
    token: Token | None = None

    @property
    def who(self) -> str:
        """The name that the audit records, with the token's prefix if a token was used."""
        name = self.user.username
        return f"{name} ({self.token.prefix}…)" if self.token else name


def caller(request: HttpRequest) -> Caller:
    """Returns the caller of a request that passed a guard of `dashboard.accounts.roles`."""
    found: Caller = request.auth  # type: ignore[attr-defined]
    return found


class Session(APIKeyCookie):
    """Authenticates a browser by its session cookie; a change also needs the CSRF token."""

    param_name = settings.SESSION_COOKIE_NAME

    def __init__(self, least: Role) -> None:
        super().__init__()
        self._least = least

    def __call__(self, request: HttpRequest) -> Caller | None:
        # Check the login before the CSRF token: without a login the answer is 401, not 403.
        return self.authenticate(request, request.COOKIES.get(self.param_name))

    def authenticate(self, request: HttpRequest, key: str | None) -> Caller | None:
        role = role_of(request.user)
        if role is None:
            return None
        if check_csrf(request):
            raise HttpError(403, "the CSRF token is missing or wrong: send X-CSRFToken")
        assert isinstance(request.user, User)
        return _admitted(Caller(request.user, role), self._least)


class Bearer(HttpBearer):
    """Authenticates a program: it has its token's scope, limited by its owner's current role."""

    def __init__(self, least: Role) -> None:
        super().__init__()
        self._least = least

    def authenticate(self, request: HttpRequest, token: str) -> Caller:
        return _admitted(self._found(request, token), self._least)

    @staticmethod
    def _found(request: HttpRequest, secret: str) -> Caller:
        address = rate_limits.address_of(request)
        rate_limits.count(Use(rate_limits.TOKEN_ADDRESS, address))
        token = tokens.find(secret)
        role = role_of(token.user) if token else None
        if token is None or role is None:
            rate_limits.count(Use(rate_limits.TOKEN_FAILURES, address))
            raise AuthenticationError(message="this token is unknown, expired or revoked")
        rate_limits.count(Use(rate_limits.TOKEN_USES, token.digest))
        tokens.note_use(token)
        return Caller(token.user, min(role, MAY[Scope(token.scope)], key=lambda r: r.rank), token)


class NoBearer(Bearer):
    """Refuses tokens where only a person may act: a stolen token must not create another token."""

    def __init__(self) -> None:
        super().__init__(Role.VIEWER)
        # The OpenAPI document must not offer a scheme that is always refused.
        del self.openapi_security_schema

    def authenticate(self, request: HttpRequest, token: str) -> Caller:
        self._found(request, token)
        raise HttpError(403, "not with a token: log in")


def guard(least: Role) -> list[Any]:
    return [Bearer(least), Session(least)]


def guard_in_person(least: Role) -> list[Any]:
    return [NoBearer(), Session(least)]


def _admitted(found: Caller, least: Role) -> Caller:
    if found.role.includes(least):
        return found
    own = role_of(found.user)
    if found.token and own and own.includes(least):
        raise HttpError(403, f"this token may only {found.token.scope}")
    raise HttpError(403, f"this takes {ARTICLE[least]}; you are {ARTICLE[own or Role.VIEWER]}")
