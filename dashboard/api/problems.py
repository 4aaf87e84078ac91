"""Errors as RFC 9457 has them: `application/problem+json`, everywhere under /api/.

Raise these, or ninja's `HttpError(status, detail)`; `dashboard.api.root` makes answers of them.
"""

import json
from http import HTTPStatus
from typing import Any

from django.http import HttpResponse
from ninja import Schema
from ninja.errors import HttpError

CONTENT_TYPE = "application/problem+json"
TITLES = {
    400: "Not understood",
    401: "Not logged in",
    403: "Not allowed",
    404: "Not found",
    409: "Changed meanwhile",
    413: "Too large",
    429: "Too many requests",
    503: "Not available now",
}


class Fault(Schema):
    field: str
    detail: str


class Problem(Schema):
    """What every error looks like."""

    title: str
    status: int
    detail: str
    faults: list[Fault] | None = None


class BadInput(HttpError):
    """400 with the field named, for what a schema cannot check."""

    def __init__(self, field: str, detail: str) -> None:
        super().__init__(400, f"{field}: {detail}")
        self.fault = {"field": field, "detail": detail}


class Conflict(HttpError):
    """409: the change conflicts with the present state, which is returned as `current`."""

    def __init__(self, detail: str, current: Any) -> None:
        super().__init__(409, detail)
        self.current = current


class TooMany(HttpError):
    """429, with the seconds after which it makes sense to try again."""

    def __init__(self, detail: str, retry_after_s: int) -> None:
        super().__init__(429, detail)
        self.retry_after_s = retry_after_s


def problem(status: int, detail: str, **more: Any) -> HttpResponse:
    title = TITLES.get(status) or HTTPStatus(status).phrase
    body = {"title": title, "status": status, "detail": detail, **more}
    return HttpResponse(json.dumps(body), status=status, content_type=CONTENT_TYPE)
