from typing import Any

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import AbstractBaseUser
from django.http import HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError
from ninja.openapi.docs import Swagger

from dashboard.api import jobs, metrics
from dashboard.store import StoreUnavailable


async def logged_in(request: HttpRequest) -> AbstractBaseUser | None:
    user = await request.auser()
    return user if user.is_authenticated else None


api = NinjaAPI(
    title="Curtail",
    version="1",
    auth=logged_in,
    docs=Swagger(),
    docs_decorator=login_required,
    urls_namespace="api",
)
api.add_router("/jobs", jobs.router)
api.add_router("/metrics", metrics.router)


def problem(
    request: HttpRequest, status: int, title: str, detail: str, **more: Any
) -> HttpResponse:
    """RFC 9457."""
    body = {"title": title, "status": status, "detail": detail, **more}
    response = api.create_response(request, body, status=status)
    response["Content-Type"] = "application/problem+json"
    return response


@api.exception_handler(AuthenticationError)
def not_logged_in(request: HttpRequest, _error: AuthenticationError) -> HttpResponse:
    return problem(request, 401, "Not logged in", "log in first")


@api.exception_handler(HttpError)
def refused(request: HttpRequest, error: HttpError) -> HttpResponse:
    return problem(request, error.status_code, "Refused", str(error))


@api.exception_handler(ValidationError)
def invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    faults = [
        {"field": ".".join(str(step) for step in fault["loc"][1:]), "detail": fault["msg"]}
        for fault in error.errors
    ]
    detail = "; ".join(f"{fault['field']}: {fault['detail']}" for fault in faults)
    return problem(request, 400, "Not understood", detail, faults=faults)


@api.exception_handler(StoreUnavailable)
def away(request: HttpRequest, _error: StoreUnavailable) -> HttpResponse:
    return problem(request, 503, "Redis does not answer", "try again in a moment")
