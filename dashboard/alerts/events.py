"""What there is to tell others: frozen values, plain enough to be kept as JSON."""

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
    TEST = "webhook.test"


class Severity(StrEnum):
    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        return list(Severity).index(self)


# What somebody may subscribe to; a test goes to the endpoint that is tested.
SUBSCRIBABLE = tuple(each for each in Type if each != Type.TEST)
# These end what another type of the same noun began.
ENDINGS = frozenset({Type.INCIDENT_RESOLVED, Type.SLO_RESTORED, Type.TECHNIQUE_APPLIED})


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
        """When what it tells of happened."""
        return self.onset_ms if self.end_ms is None else self.end_ms

    @property
    def is_ending(self) -> bool:
        return self.type in ENDINGS

    @property
    def subject(self) -> str:
        """What begins and ends under one name: the key by which others match the two."""
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
    """What a format makes a body of."""

    id: str
    event: Event
    public_url: str = ""  # of the dashboard, without a slash at its end
    routing_key: str = ""

    @property
    def link(self) -> str:
        """Where a person may look, if this installation knows its own address."""
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
