"""Login and the user's own settings. Login attempts are rate limited."""

from typing import Any, cast

from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView, PasswordChangeView
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from dashboard.accounts import audit
from dashboard.web import rate_limits
from dashboard.web.rate_limits import LimitReached, Use


class Login(LoginView):
    redirect_authenticated_user = True

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        self._uses = _attempt(request, request.POST.get("username", ""))
        try:
            rate_limits.count(*self._uses)
        except LimitReached as reached:
            return self._refuse(request, reached)
        return super().post(request, *args, **kwargs)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        rate_limits.give_back(*self._uses)
        return super().form_valid(form)

    def _refuse(self, request: HttpRequest, reached: LimitReached) -> HttpResponse:
        name = request.POST.get("username", "")
        if reached.first:
            # Record only names of existing users: people sometimes type a password there.
            known = User.objects.filter(username__iexact=name).first()
            subject = known.username if known else "an unknown name"
            audit.record(rate_limits.address_of(request), "login.refused", subject)
        form = AuthenticationForm(request, initial={"username": name})
        context = self.get_context_data(form=form, refusal=_refusal(reached))
        return _with_retry_after(self.render_to_response(context, status=429), reached)


class Settings(PasswordChangeView):
    """The settings page: the user's tokens (filled in by a script) and the password form."""

    template_name = "settings.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(changed="changed" in self.request.GET, **kwargs)

    def get_success_url(self) -> str:
        return f"{reverse('settings')}?changed"

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        self._uses = _attempt(request, self._user.username)
        try:
            rate_limits.count(*self._uses)
        except LimitReached as reached:
            form = PasswordChangeForm(self._user)
            context = self.get_context_data(form=form, refusal=_refusal(reached))
            return _with_retry_after(self.render_to_response(context, status=429), reached)
        return super().post(request, *args, **kwargs)

    def form_valid(self, form: Any) -> HttpResponse:
        rate_limits.give_back(*self._uses)
        with transaction.atomic():
            audit.record(self._user.username, "user.password-changed", self._user.username)
            return super().form_valid(form)

    @property
    def _user(self) -> User:
        return cast(User, self.request.user)


def _attempt(request: HttpRequest, name: str) -> tuple[Use, Use]:
    address = rate_limits.address_of(request)
    account = f"{name.casefold()} {address}"
    return Use(rate_limits.LOGIN_ACCOUNT, account), Use(rate_limits.LOGIN_ADDRESS, address)


def _refusal(reached: LimitReached) -> str:
    minutes = -(-reached.retry_after_s // 60)
    return f"Too many attempts. Try again in {minutes} {'minute' if minutes == 1 else 'minutes'}."


def _with_retry_after(response: HttpResponse, reached: LimitReached) -> HttpResponse:
    response["Retry-After"] = str(reached.retry_after_s)
    return response
