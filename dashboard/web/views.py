"""The HTML pages: each is a frame that the browser fills from the API and the WebSocket."""

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from dashboard.accounts.roles import Role, role_of
from dashboard.alerts.events import SUBSCRIBABLE, Severity
from dashboard.alerts.formats import Format
from dashboard.fleet import snapshots
from dashboard.models import Analysis, Incident, Job, Tag
from dashboard.steering.cluster_lease import LABEL
from dashboard.web.initial_range import initial_range
from techniques.detection import RULES

DAY_MS = 24 * 60 * 60 * 1000


def jobs(request: HttpRequest) -> HttpResponse:
    return render(request, "jobs.html")


def job(request: HttpRequest, job_id: str) -> HttpResponse:
    try:
        found = Job.objects.get(pk=job_id)
    except Job.DoesNotExist:
        raise Http404(f"no job {job_id}") from None
    at = initial_range(request.GET, found.last_seen_ms, snapshots.now())
    kept_ms = settings.ARCHIVE_DAYS * DAY_MS if settings.ARCHIVE else 0
    return render(request, "job.html", {"job": found, "opening": at, "kept_ms": kept_ms})


def clusters(request: HttpRequest) -> HttpResponse:
    return render(request, "clusters.html")


def cluster(request: HttpRequest, cluster: str) -> HttpResponse:
    if not Tag.objects.filter(name=LABEL + cluster).exists():
        raise Http404(f"no job is tagged {LABEL}{cluster}")
    return render(request, "cluster.html", {"cluster": cluster})


def incidents(request: HttpRequest) -> HttpResponse:
    return render(
        request, "incidents.html", {"kinds": list(RULES), "states": Incident.State.values}
    )


def incident(request: HttpRequest, incident_id: int) -> HttpResponse:
    try:
        found = Incident.objects.select_related("job").get(pk=incident_id)
    except Incident.DoesNotExist:
        raise Http404(f"no incident {incident_id}") from None
    return render(request, "incident.html", {"incident": found, "job": found.job})


def analyses(request: HttpRequest) -> HttpResponse:
    return render(request, "analyses.html", {"archive": settings.ARCHIVE is not None})


def analysis(request: HttpRequest, analysis_id: int) -> HttpResponse:
    if not Analysis.objects.filter(pk=analysis_id).exists():
        raise Http404(f"no analysis {analysis_id}")
    return render(request, "analysis.html", {"analysis_id": analysis_id})


def people(request: HttpRequest) -> HttpResponse:
    if role_of(request.user) != Role.ADMIN:
        raise PermissionDenied
    return render(request, "people.html", {"roles": Role.values})


def alerts(request: HttpRequest) -> HttpResponse:
    known = {"types": SUBSCRIBABLE, "formats": list(Format), "severities": list(Severity)}
    return render(request, "alerts.html", known)


def audit(request: HttpRequest) -> HttpResponse:
    return render(request, "audit.html")
