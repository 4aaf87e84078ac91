"""What Prometheus Alertmanager posts to its webhook receivers, version 4: one group, one alert.

The labels are those that stay the same from begin to end: receivers match the two by them.
"""

import hashlib
from typing import Any

from dashboard.alerts.events import Notice
from dashboard.alerts.times import rfc3339

# Alertmanager's way to say that there is no end yet.
NO_END = "0001-01-01T00:00:00Z"


def body(notice: Notice) -> dict[str, Any]:
    event = notice.event
    status = "resolved" if event.is_ending else "firing"
    labels = {"alertname": event.kind, "job": event.job, "source": "curtail"}
    if event.incident_id is not None:
        labels["incident"] = str(event.incident_id)
    annotations = {
        "summary": event.title,
        "description": event.explanation,
        "type": event.type,
        "severity": event.severity,
    }
    alert = {
        "status": status,
        "labels": {**labels, "severity": event.severity},
        "annotations": annotations,
        "startsAt": rfc3339(event.onset_ms),
        "endsAt": rfc3339(event.at_ms) if event.is_ending else NO_END,
        "generatorURL": notice.link,
        "fingerprint": hashlib.sha256(event.subject.encode()).hexdigest()[:16],
    }
    group = ", ".join(f'{name}="{_escaped(value)}"' for name, value in sorted(labels.items()))
    return {
        "version": "4",
        "groupKey": f"{{}}:{{{group}}}",
        "truncatedAlerts": 0,
        "status": status,
        "receiver": "curtail",
        "groupLabels": labels,
        "commonLabels": alert["labels"],
        "commonAnnotations": annotations,
        "externalURL": notice.public_url,
        "alerts": [alert],
    }


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
