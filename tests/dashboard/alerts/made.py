"""Events and endpoints for tests that need some."""

from dataclasses import replace
from typing import Any

from dashboard.alerts import signing
from dashboard.alerts.events import Event, Severity, Type
from dashboard.models import Endpoint, Run, Slo
from dashboard.slo import notifications
from dashboard.slo.burn import State
from dashboard.slo.evaluation import Outcome
from techniques.slo.objective import as_data
from tests.factories import START_MS, p99_objective

OPENED = Event(
    type=Type.INCIDENT_OPENED,
    job="orders.scored",
    kind="shadowsync",
    severity=Severity.CRITICAL,
    title="Flushes of all stores at once",
    explanation="4 of 4 stores flush every 10 s, and p99 rises to 2.1 s <each> time.",
    onset_ms=START_MS,
    incident_id=7,
    evidence={"p99_ms": 2100.5, "stores": 4},
    link="/jobs/orders.scored?at=1700000000000",
)
RESOLVED = replace(
    OPENED,
    type=Type.INCIDENT_RESOLVED,
    severity=Severity.INFO,
    title="Flushes of all stores at once: over",
    end_ms=START_MS + 60_123,
)
REFUSED = Event(
    type=Type.TECHNIQUE_REFUSED,
    job="orders.scored",
    kind="deconcur",
    severity=Severity.WARNING,
    title="Deconcurrence was refused",
    explanation="1: no RocksDB here",
    onset_ms=START_MS,
)

OBJECTIVE = p99_objective(500.0)
SLO = Slo(job_id="orders.scored", objective=as_data(OBJECTIVE))
BURNING = State(START_MS + 50_000, "0" * 25 + "1" * 5, START_MS, START_MS)
MISSED = Outcome(START_MS + 50_000, 812.345, None, False, 21.5)
VIOLATED = notifications.violated(SLO, OBJECTIVE, BURNING, MISSED)
RESTORED = notifications.restored(SLO, OBJECTIVE, START_MS, START_MS + 90_000)
LOST = notifications.lost(
    Run(job_id="orders.scored", driver_host="node-a", application_id="local-1"), START_MS
)


def opened(incident_id: int = 7, **changes: Any) -> Event:
    return replace(OPENED, incident_id=incident_id, **changes)


def endpoint(url: str = "https://hooks.example.org/T0/B0/secret", **fields: Any) -> Endpoint:
    made = {"name": "on call", "format": "standard", "created_ms": START_MS}
    return Endpoint.objects.create(url=url, secret=signing.new_secret(), **{**made, **fields})
