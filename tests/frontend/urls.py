"""The names the templates link to, without the views behind them: pages are rendered alone here."""

from django.http import HttpRequest, HttpResponse
from django.urls import path


def nothing(request: HttpRequest, job_id: str = "") -> HttpResponse:
    return HttpResponse()


urlpatterns = [
    path("", nothing, name="jobs"),
    path("jobs/<str:job_id>", nothing, name="job"),
    path("login", nothing, name="login"),
    path("logout", nothing, name="logout"),
]
