"""The names the templates link to, without the views behind them: pages are rendered alone here."""

from django.http import HttpRequest, HttpResponse
from django.urls import include, path


def nothing(
    request: HttpRequest,
    job_id: str = "",
    cluster: str = "",
    incident_id: int = 0,
    analysis_id: int = 0,
) -> HttpResponse:
    return HttpResponse()


urlpatterns = [
    path("", nothing, name="jobs"),
    path("jobs/<str:job_id>", nothing, name="job"),
    path("clusters", nothing, name="clusters"),
    path("clusters/<str:cluster>", nothing, name="cluster"),
    path("incidents", nothing, name="incidents"),
    path("incidents/<int:incident_id>", nothing, name="incident"),
    path("analysis", nothing, name="analyses"),
    path("analysis/<int:analysis_id>", nothing, name="analysis"),
    path("people", nothing, name="people"),
    path("audit", nothing, name="audit"),
    path("alerts", nothing, name="alerts"),
    path("settings", nothing, name="settings"),
    path("api/v1/", include(([path("docs", nothing, name="openapi-view")], "api"))),
    path("login", nothing, name="login"),
    path("logout", nothing, name="logout"),
]
