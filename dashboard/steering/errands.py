"""What a server asks of the workers at once, instead of waiting for their next tick."""

import logging

from kombu.exceptions import OperationalError

from dashboard.celery_app import app

log = logging.getLogger(__name__)

# By then a tick has done it.
EXPIRES_S = 10


def steer_soon(job_id: str) -> None:
    """Every worker hears of it, and the one whose job it is decides without waiting for a tick."""
    try:
        app.send_task("dashboard.tasks.steer_job", (job_id,), expires=EXPIRES_S, retry=False)
    except OperationalError as error:
        log.warning("%s will be steered with the next tick: %s", job_id, error)
