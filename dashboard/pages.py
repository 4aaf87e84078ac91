"""The HTML pages: each is a frame that the browser fills from the API and the WebSocket."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from dashboard.models import Job


def jobs(request: HttpRequest) -> HttpResponse:
    return render(request, "jobs.html")


def job(request: HttpRequest, job_id: str) -> HttpResponse:
    try:
        found = Job.objects.get(pk=job_id)
    except Job.DoesNotExist:
        raise Http404(f"no job {job_id}") from None
    return render(request, "job.html", {"job": found})
