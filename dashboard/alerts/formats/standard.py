"""The body that the Standard Webhooks specification defines: `type`, `timestamp`, `data`."""

from typing import Any

from dashboard.alerts.events import Notice
from dashboard.alerts.times import rfc3339


def body(notice: Notice) -> dict[str, Any]:
    event = notice.event
    return {
        "type": event.type,
        "timestamp": rfc3339(event.at_ms),
        "data": {
            "job": event.job,
            "kind": event.kind,
            "severity": event.severity,
            "title": event.title,
            "explanation": event.explanation,
            "onset_ms": event.onset_ms,
            "end_ms": event.end_ms,
            "incident_id": event.incident_id,
            "evidence": dict(event.evidence),
            "link": notice.link or None,
        },
    }
