"""Security headers of every response."""

from collections.abc import Awaitable, Callable

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

# Nothing inline, neither script nor style: Plotly's rules are in plotly.css, and what it and
# Swagger set on elements they set by script, which no policy forbids. The pictures in `data:` are
# those of Swagger's style sheet.
POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Permissions-Policy": "camera=(), display-capture=(), geolocation=(), microphone=(), "
    "payment=(), usb=(), clipboard-read=()",
    "Cross-Origin-Resource-Policy": "same-origin",
}

Handler = Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]


@sync_and_async_middleware
def security_headers(get_response: Handler) -> Handler:
    """In addition to Django's: X-Content-Type-Options, Referrer-Policy, X-Frame-Options, COOP."""
    if iscoroutinefunction(get_response):

        async def answered(request: HttpRequest) -> HttpResponseBase:
            response: HttpResponseBase = await get_response(request)
            return _with_headers(request, response)

        return answered

    def answered_now(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        assert isinstance(response, HttpResponseBase)
        return _with_headers(request, response)

    return answered_now


def _with_headers(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    if request.path_info.startswith("/api/"):
        # Secrets are shown once; a cache could show them again.
        response.headers.setdefault("Cache-Control", "no-store")
    return response
