from typing import Any

from django.urls import path

from dashboard.live.consumers import JobConsumer, JobsConsumer

# Django's `path` is typed for views; Channels hands it consumers.
routes: list[Any] = [
    path("ws/jobs", JobsConsumer.as_asgi()),  # type: ignore[arg-type]
    path("ws/jobs/<str:job_id>", JobConsumer.as_asgi()),  # type: ignore[arg-type]
]
