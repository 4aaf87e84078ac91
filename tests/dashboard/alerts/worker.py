"""A delivery worker as a process of its own, on a database file: something that can be killed.

worker.py prepare COUNT URL…    makes a database, an endpoint for each URL, so many incidents
worker.py run LEASE_MS          delivers, until it or its parent is killed
"""

import os
import sys
import time

import django

django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import transaction  # noqa: E402

from dashboard.alerts import outbox  # noqa: E402
from dashboard.alerts.delivery import Courier  # noqa: E402
from dashboard.alerts.sender import Sender  # noqa: E402
from dashboard.models import Endpoint  # noqa: E402
from tests.dashboard.alerts.made import endpoint, opened  # noqa: E402
from tests.dashboard.alerts.received import LOOPBACK  # noqa: E402

# Shorter than the leases that tests ask for, which are short so that tests are.
DEADLINE_S = 3
EVERY_S = 0.05


def prepare(count: str, *urls: str) -> None:
    call_command("migrate", verbosity=0)
    for url in urls:
        endpoint(url)
    print(*Endpoint.objects.values_list("secret", flat=True))
    for incident in range(int(count)):
        with transaction.atomic():
            outbox.publish(opened(incident))


def run(lease_ms: str) -> None:
    courier = Courier(Sender(LOOPBACK, deadline_s=DEADLINE_S), lease_ms=int(lease_ms))
    parent = os.getppid()
    while os.getppid() == parent:
        courier.round()
        time.sleep(EVERY_S)


if __name__ == "__main__":
    verb, *words = sys.argv[1:]
    if verb == "prepare":
        prepare(*words)
    else:
        run(*words)
