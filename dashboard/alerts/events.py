"""Events that alerts are made of: frozen values that can be stored as JSON."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any


class Type(StrEnum):
    INCIDENT_OPENED = "incident.opened"
    INCIDENT_RESOLVED = "incident.resolved"
    SLO_VIOLATED = "slo.violated"
    SLO_RESTORED = "slo.restored"
    TECHNIQUE_APPLIED = "technique.applied"
    TECHNIQUE_REFUSED = "technique.refused"
    COLLECTOR_LOST = "collector.lost"
    ARCHIVE_FAILED = "archive.failed"
    ARCHIVE_RESTORED = "archive.restored"
    TEST = "webhook.test"


class Severity(StrEnum):
    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        return list(Severity).index(self)


# The types an endpoint can subscribe to. A test goes only to the endpoint that is tested.
SUBSCRIBABLE = tuple(each for each in Type if each != Type.TEST)
# Types that end an event of another type with the same noun (incident.opened → resolved).
ENDINGS = frozenset(
    {
        Type.INCIDENT_RESOLVED,
        Type.SLO_RESTORED,
        Type.TECHNIQUE_APPLIED,
        Type.ARCHIVE_RESTORED,
    }
)


@dataclass(frozen=True)
class Event:
    type: Type
    job: str
    kind: str  # of an incident its kind, of a technique its name
    severity: Severity
    title: str
    explanation: str
    onset_ms: int
    end_ms: int | None = None
    incident_id: int | None = None
    evidence: Mapping[str, Any] = field(default_factory=dict)
    link: str = ""  # a path of the dashboard

    @property
    def at_ms(self) -> int:
        """The time of the event: the end if there is one, else the onset."""
        return self.onset_ms if self.end_ms is None else self.end_ms

    @property
    def is_ending(self) -> bool:
        return self.type in ENDINGS

    @property
    def subject(self) -> str:
        """The key by which receivers match the end of something with its beginning."""
        noun = self.type.partition(".")[0]
        if self.type == Type.TEST:
            return f"{noun}:{self.onset_ms}"  # no test waits for another
        if self.incident_id is not None:
            return f"{noun}:{self.job}:{self.incident_id}"
        return f"{noun}:{self.job}:{self.kind}"

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def of(kept: Mapping[str, Any]) -> "Event":
        enums = {"type": Type(kept["type"]), "severity": Severity(kept["severity"])}
        return Event(**{**kept, **enums})


@dataclass(frozen=True)
class Notice:
    """An event with what a format needs besides it to make the request body."""

    id: str
    event: Event
    public_url: str = ""  # of the dashboard, without a slash at its end
    routing_key: str = ""

    @property
    def link(self) -> str:
        """The full URL of the page about this event; empty if the public URL is not configured."""
        return f"{self.public_url}{self.event.link}" if self.public_url and self.event.link else ""


def trial(now_ms: int, job: str = "", who: str = "") -> Event:
    return Event(
        type=Type.TEST,
        job=job or "no.job",
        kind="test",
        severity=Severity.INFO,
        title="A test from Curtail",
        explanation=f"{who or 'Somebody'} pressed the test button. Nothing is wrong.",
        onset_ms=now_ms,
        link="/alerts",
    )
