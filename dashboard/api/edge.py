"""Turns errors under /api/ that Django and not ninja answers into problem documents too."""

from collections.abc import Awaitable, Callable
from http import HTTPStatus

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

from dashboard.api.problems import CONTENT_TYPE, problem

ROOT = "/api/"
DETAILS = {
    400: "the request cannot be read",
    404: "there is nothing at this address",
    405: "not with this method",
    500: "the server failed; the cause is in its log",
}

Handler = Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]


@sync_and_async_middleware
def problems_under_api(get_response: Handler) -> Handler:
    """Must be the outermost middleware, so that it also sees the answers of the others."""
    if iscoroutinefunction(get_response):

        async def answered(request: HttpRequest) -> HttpResponseBase:
            if not request.path_info.startswith(ROOT):
                other: HttpResponseBase = await get_response(request)
                return other
            return _refusal(request) or _as_problem(await get_response(request))

        return answered

    def answered_now(request: HttpRequest) -> HttpResponseBase:
        if not request.path_info.startswith(ROOT):
            other = get_response(request)
            assert isinstance(other, HttpResponseBase)
            return other
        return _refusal(request) or _as_problem(get_response(request))

    return answered_now


def _refusal(request: HttpRequest) -> HttpResponseBase | None:
    # PostgreSQL cannot store a NUL character in text, and no id of ours contains one.
    if "\x00" in request.path_info or "%00" in request.META.get("QUERY_STRING", ""):
        return problem(400, "the address holds the character NUL")
    return None


def _as_problem(response: object) -> HttpResponseBase:
    assert isinstance(response, HttpResponseBase)
    if response.status_code < 400 or not isinstance(response, HttpResponse):
        return response
    if response.headers.get("Content-Type", "").startswith(CONTENT_TYPE):
        return response
    status = response.status_code
    said = problem(status, DETAILS.get(status) or HTTPStatus(status).phrase.lower())
    # Change the response in place to keep its other headers: Allow, cookies.
    response.content = said.content
    response["Content-Type"] = CONTENT_TYPE
    response["Content-Length"] = str(len(said.content))
    return response
