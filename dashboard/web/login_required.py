from collections.abc import Callable
from typing import Any

from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.http import HttpRequest, HttpResponseBase


class LoginRequired(LoginRequiredMiddleware):
    """Every page asks for a login. The API does so itself, with 401 instead of a redirect."""

    def process_view(
        self,
        request: HttpRequest,
        view_func: Callable[..., Any],
        view_args: tuple[Any, ...],
        view_kwargs: dict[str, Any],
    ) -> HttpResponseBase | None:
        match = request.resolver_match
        if match and "api" in match.namespaces:
            return None
        return super().process_view(request, view_func, view_args, view_kwargs)
