"""PagerDuty Events API v2: a trigger, or the resolve of the same `dedup_key`."""

from typing import Any

from dashboard.alerts.events import Notice
from dashboard.alerts.times import rfc3339

LONGEST_SUMMARY = 1_024
LONGEST_KEY = 255


def body(notice: Notice) -> dict[str, Any]:
    event = notice.event
    sent: dict[str, Any] = {
        "routing_key": notice.routing_key,
        "event_action": "resolve" if event.is_ending else "trigger",
        "dedup_key": f"curtail:{event.subject}"[:LONGEST_KEY],
        "client": "Curtail",
        "payload": {
            "summary": f"{event.job}: {event.title}"[:LONGEST_SUMMARY],
            "source": event.job,
            # PagerDuty knows our three severities, and also "error", which we do not use.
            "severity": event.severity,
            "timestamp": rfc3339(event.at_ms),
            "component": event.job,
            "class": event.kind,
            "custom_details": {
                "type": event.type,
                "explanation": event.explanation,
                "incident_id": event.incident_id,
                "evidence": dict(event.evidence),
            },
        },
    }
    if notice.public_url:
        sent["client_url"] = notice.public_url
    if notice.link:
        sent["links"] = [{"href": notice.link, "text": "Open in Curtail"}]
    return sent
