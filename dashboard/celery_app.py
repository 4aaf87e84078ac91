"""The workers' Celery application: `celery -A dashboard.celery_app worker -B`."""

import os

import django
from celery import Celery
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
django.setup()

app = Celery("curtail", broker=settings.REDIS_URL)
app.conf.update(
    task_ignore_result=True,
    task_default_queue="curtail",
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
        "detect-incidents": {
            "task": "dashboard.tasks.detect_incidents",
            "schedule": 1.0,
            "options": {"expires": 1.0},
        },
        "steer-jobs": {
            "task": "dashboard.tasks.steer_jobs",
            "schedule": 1.0,
            "options": {"expires": 1.0},
        },
        "deliver-alerts": {
            "task": "dashboard.tasks.deliver_alerts",
            "schedule": 1.0,
            "options": {"expires": 1.0},
        },
        "forget-old-records": {
            "task": "dashboard.tasks.forget_old_records",
            "schedule": 3600.0,
            "options": {"expires": 3600.0},
        },
    },
)
