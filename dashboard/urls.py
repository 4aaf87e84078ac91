from django.contrib.auth import views as auth
from django.urls import path

from dashboard.accounts import views as accounts
from dashboard.api import api
from dashboard.api.metrics import scrape_at_root
from dashboard.web import health
from dashboard.web import views as pages

urlpatterns = [
    path("", pages.jobs, name="jobs"),
    path("jobs/<str:job_id>", pages.job, name="job"),
    path("clusters", pages.clusters, name="clusters"),
    path("clusters/<str:cluster>", pages.cluster, name="cluster"),
    path("incidents", pages.incidents, name="incidents"),
    path("incidents/<int:incident_id>", pages.incident, name="incident"),
    path("analysis", pages.analyses, name="analyses"),
    path("analysis/<int:analysis_id>", pages.analysis, name="analysis"),
    path("people", pages.people, name="people"),
    path("audit", pages.audit, name="audit"),
    path("alerts", pages.alerts, name="alerts"),
    path("settings", accounts.Settings.as_view(), name="settings"),
    path("login", accounts.Login.as_view(), name="login"),
    path("logout", auth.LogoutView.as_view(), name="logout"),
    path("metrics", scrape_at_root, name="metrics"),
    path("healthz", health.live, name="healthz"),
    path("readyz", health.ready, name="readyz"),
    path("api/v1/", api.urls),
]
