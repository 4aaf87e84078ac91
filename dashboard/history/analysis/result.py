"""What the analysis of one job found, as a value and as JSON."""

import json
from dataclasses import asdict, dataclass
from typing import Any

from techniques.analysis.added import Added
from techniques.analysis.change_points import ChangePoint
from techniques.analysis.changed_with import Together
from techniques.analysis.effects import Effect, Switch
from techniques.effect import Ratio


@dataclass(frozen=True)
class Found:
    """One incident."""

    kind: str
    title: str
    onset_ms: int
    end_ms: int
    occurrences: int
    added_ms: float
    severity: str
    explanation: str
    technique: str


@dataclass(frozen=True)
class JobAnalysis:
    """`seconds` had data, in `raised_s` of them p99 was raised; `windows` were looked at closely,
    `left_out_ms` more would have been but for the share of each hour. `stalls_s` are the seconds
    since the range's start in which a stall began; `p99_ms` is by the hour, from
    `hours_start_ms`."""

    job_id: str
    hosts: tuple[str, ...]
    seconds: int
    raised_s: int
    windows: int
    unreadable: int
    left_out_ms: int
    stalls_s: tuple[int, ...]
    incidents: tuple[Found, ...]
    added: tuple[Added, ...]
    hours_start_ms: int
    p99_ms: tuple[float | None, ...]
    changes: tuple[tuple[ChangePoint, tuple[Together, ...]], ...]
    effects: tuple[Effect, ...]

    def to_json(self) -> str:
        return json.dumps(asdict(self), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> "JobAnalysis":
        told: dict[str, Any] = json.loads(text)
        return cls(
            **{
                **told,
                "hosts": tuple(told["hosts"]),
                "stalls_s": tuple(told["stalls_s"]),
                "p99_ms": tuple(told["p99_ms"]),
                "incidents": tuple(Found(**each) for each in told["incidents"]),
                "added": tuple(Added(**each) for each in told["added"]),
                "changes": tuple(
                    (ChangePoint(**change), tuple(Together(**each) for each in others))
                    for change, others in told["changes"]
                ),
                "effects": tuple(_effect(each) for each in told["effects"]),
            }
        )


@dataclass(frozen=True)
class Failed:
    """The analysis of this job did not succeed; the others go on."""

    job_id: str
    why: str


def _effect(told: dict[str, Any]) -> Effect:
    ratio = told["p99"]
    return Effect(Switch(**told["switch"]), None if ratio is None else Ratio(**ratio))
