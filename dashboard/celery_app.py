"""The workers' Celery application: `celery -A dashboard.celery_app worker -B`."""

import os

import django
from celery import Celery
from django.conf import settings
from kombu import Exchange, Queue
from kombu.common import Broadcast

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
django.setup()

# Every worker has its own jobs (`dashboard.worker.job_leases`), so all workers get these ticks.
EVERY_WORKER = "curtail-every-worker"
to_every_worker = {
    "queue": EVERY_WORKER,
    "exchange": EVERY_WORKER,
    "routing_key": EVERY_WORKER,
    # Celery does not declare the broadcast exchange itself; messages to a missing one are lost.
    "declare": [Exchange(EVERY_WORKER, type="fanout")],
}

app = Celery("curtail", broker=settings.REDIS_URL)
app.conf.update(
    task_ignore_result=True,
    task_default_queue="curtail",
    task_queues=[Queue("curtail"), Broadcast(EVERY_WORKER, routing_key=EVERY_WORKER)],
    task_routes={
        "dashboard.tasks.look_after_jobs": to_every_worker,
        "dashboard.tasks.steer_job": to_every_worker,
        "dashboard.tasks.look_after_archive": to_every_worker,
    },
    broker_connection_retry_on_startup=True,
    # The worker waits for Redis as long as it takes; it must not give up at night.
    broker_connection_max_retries=None,
    worker_hijack_root_logger=False,
    imports=["dashboard.tasks"],
    beat_schedule={
        # A tick nobody took before the next one is due is dropped, so ticks never pile up.
        "register-jobs": {
            "task": "dashboard.tasks.register_jobs",
            "schedule": 1.0,
            "options": {"expires": 1.0},
        },
        "look-after-jobs": {
            "task": "dashboard.tasks.look_after_jobs",
            "schedule": 1.0,
            "options": {"expires": 1.0},
        },
        "deliver-alerts": {
            "task": "dashboard.tasks.deliver_alerts",
            "schedule": 1.0,
            "options": {"expires": 1.0},
        },
        "look-after-archive": {
            "task": "dashboard.tasks.look_after_archive",
            "schedule": 10.0,
            "options": {"expires": 10.0},
        },
        "forget-old-records": {
            "task": "dashboard.tasks.forget_old_records",
            "schedule": 3600.0,
            "options": {"expires": 3600.0},
        },
    },
)
