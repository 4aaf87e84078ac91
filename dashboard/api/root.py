"""The API: what it is made of, and how errors become answers."""

import json
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.core.exceptions import RequestDataTooBig
from django.http import Http404, HttpRequest, HttpResponse
from ninja.errors import AuthenticationError, HttpError, ValidationError
from ninja.openapi.docs import Swagger

from dashboard.accounts.roles import everybody
from dashboard.api import (
    analyses,
    audit,
    clusters,
    comparisons,
    deliveries,
    exports,
    fleet,
    history,
    incidents,
    jobs,
    me,
    metrics,
    techniques,
    tokens,
    users,
    webhooks,
)
from dashboard.api.openapi import DocumentedAPI
from dashboard.api.problems import BadInput, Conflict, TooMany, problem
from dashboard.api.strict import StrictParser
from dashboard.store import StoreUnavailable
from dashboard.web.rate_limits import LimitReached

api = DocumentedAPI(
    title="Curtail",
    version="1",
    description="Times are epoch milliseconds, durations milliseconds. Errors are "
    "`application/problem+json` (RFC 9457). Browsers send their session's cookie and, with a "
    "change, `X-CSRFToken`; programs send `Authorization: Bearer ct_…`.",
    auth=everybody,
    docs=Swagger(),
    docs_decorator=login_required,
    urls_namespace="api",
    parser=StrictParser(),
)
api.add_router("/me", me.router)
for of_jobs in (
    *(fleet.router, jobs.router, history.router, exports.router),
    *(incidents.of_job, techniques.router),
):
    api.add_router("/jobs", of_jobs)
api.add_router("/jobs", comparisons.router)
api.add_router("/clusters", clusters.router)
api.add_router("/incidents", incidents.router)
api.add_router("/analyses", analyses.router)
api.add_router("/users", users.router)
api.add_router("/tokens", tokens.router)
api.add_router("/audit", audit.router)
api.add_router("/metrics", metrics.router)
api.add_router("/webhooks", webhooks.router)
api.add_router("/webhooks", deliveries.of_webhooks)
api.add_router("/deliveries", deliveries.router)


@api.exception_handler(AuthenticationError)
def not_logged_in(_request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    detail = "log in, or send a token" if error.message == "Unauthorized" else error.message
    response = problem(401, detail)
    response["WWW-Authenticate"] = "Bearer"
    return response


@api.exception_handler(HttpError)
def refused(_request: HttpRequest, error: HttpError) -> HttpResponse:
    if isinstance(error.__cause__, ValueError):
        # Raised by ninja for a body that is not JSON; it drops the reason.
        return bad_body(error.__cause__)
    more: dict[str, Any] = {}
    if isinstance(error, BadInput):
        more["faults"] = [error.fault]
    if isinstance(error, Conflict):
        more["current"] = error.current
    response = problem(error.status_code, str(error), **more)
    if isinstance(error, TooMany):
        response["Retry-After"] = str(error.retry_after_s)
    return response


def bad_body(cause: ValueError) -> HttpResponse:
    reason = str(cause)
    if isinstance(cause, json.JSONDecodeError):
        reason = f"no JSON: {cause.msg} at line {cause.lineno}, column {cause.colno}"
    elif isinstance(cause, UnicodeError):
        reason = "no valid UTF-8"
    return problem(400, f"body: {reason}", faults=[{"field": "body", "detail": reason}])


@api.exception_handler(ValidationError)
def invalid(_request: HttpRequest, error: ValidationError) -> HttpResponse:
    faults = [
        # The caller knows "body.payload.name" as "name": `payload` is our parameter's name.
        {
            "field": ".".join(str(step) for step in _of_the_caller(fault["loc"])),
            "detail": fault["msg"],
        }
        for fault in error.errors
    ]
    detail = "; ".join(f"{fault['field']}: {fault['detail']}" for fault in faults)
    return problem(400, detail, faults=faults)


@api.exception_handler(RequestDataTooBig)
def too_large(_request: HttpRequest, _error: RequestDataTooBig) -> HttpResponse:
    return problem(413, f"a body may have {settings.DATA_UPLOAD_MAX_MEMORY_SIZE // 1024} KB")


@api.exception_handler(Http404)
def not_found(_request: HttpRequest, error: Http404) -> HttpResponse:
    return problem(404, str(error))


@api.exception_handler(LimitReached)
def too_many(request: HttpRequest, reached: LimitReached) -> HttpResponse:
    detail = f"try again in {reached.retry_after_s} s"
    return refused(request, TooMany(detail, reached.retry_after_s))


@api.exception_handler(StoreUnavailable)
def away(_request: HttpRequest, _error: StoreUnavailable) -> HttpResponse:
    return problem(503, "Redis does not answer; try again in a moment")


def _of_the_caller(location: tuple[str | int, ...]) -> tuple[str | int, ...]:
    source, *steps = location
    if source == "body":
        return tuple(steps[1:]) or ("body",)
    return tuple(steps)
