"""Lets the server ask the workers for something immediately instead of at their next tick."""

import logging

from kombu.exceptions import OperationalError

from dashboard.celery_app import app

log = logging.getLogger(__name__)

# A request older than this is dropped: by then a regular tick has done the work.
EXPIRES_S = 10


def steer_soon(job_id: str) -> None:
    """Sent to every worker; the one that owns the job decides without waiting for its tick."""
    try:
        app.send_task("dashboard.tasks.steer_job", (job_id,), expires=EXPIRES_S, retry=False)
    except OperationalError as error:
        log.warning("%s will be steered with the next tick: %s", job_id, error)
