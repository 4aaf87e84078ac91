"""The part of technique cards that the worker computes: what needs the job's windows.

Per technique: whether its conditions hold, its figure and its effect, with the version of the
setting for which they were computed. The worker stores it as JSON; the server only adds what is in
the database.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from dashboard.models import TechniqueDecision, TechniqueSetting
from dashboard.steering import controllers, documents
from dashboard.steering.registered import registry
from dashboard.store import Store, StoreUnavailable
from techniques.model import Conditions, Mode
from techniques.view import View

# How long a result is shown after its worker is gone.
LASTING_S = 60

NOT_YET = Conditions(None, "the worker has not looked at this job yet")
UNKNOWN = Conditions(None, "nothing is known of this job yet")
AWAY = Conditions(None, "Redis does not answer now")


@dataclass(frozen=True)
class Part:
    """The part of one card. `version`: of the setting that figure and effect belong to."""

    conditions: Mapping[str, Any]
    figure: Mapping[str, Any] | None = None
    effect: Mapping[str, Any] | None = None
    version: int = 0


@dataclass(frozen=True)
class Computed:
    """The parts of a job's cards. `failure`: the error of this job in the worker's last round."""

    computed_ms: int | None = None
    failure: str = ""
    parts: Mapping[str, Part] = field(default_factory=dict)
    otherwise: Conditions = NOT_YET

    def of(self, technique: str) -> Part:
        return self.parts.get(technique) or Part(asdict(self.otherwise))


def compute(
    view: View | None,
    failure: str,
    settings: Sequence[TechniqueSetting],
    effects: Mapping[str, Mapping[str, Any] | None],
    now_ms: int,
) -> Computed:
    """`view` is None if there is no data of the job."""
    by_name = {setting.technique: setting for setting in settings}
    names = registry().techniques
    parts = {name: _part(name, view, by_name.get(name), effects.get(name)) for name in names}
    return Computed(now_ms, failure, parts)


def _part(
    name: str,
    view: View | None,
    setting: TechniqueSetting | None,
    effect: Mapping[str, Any] | None,
) -> Part:
    version = setting.version if setting else 0
    if view is None:
        return Part(asdict(UNKNOWN), version=version)
    drawn = controllers.figure(name, view, _decided(setting))
    holds = controllers.conditions(name, view)
    return Part(asdict(holds), asdict(drawn) if drawn else None, effect, version)


def _decided(setting: TechniqueSetting | None) -> TechniqueDecision | None:
    if setting is None or setting.mode == Mode.OFF:
        return None
    return documents.decisions(setting.job_id, setting.technique, setting.changed_ms).first()


def encode(computed: Computed) -> bytes:
    parts = {name: asdict(part) for name, part in computed.parts.items()}
    told = {"computed_ms": computed.computed_ms, "failure": computed.failure, "parts": parts}
    return json.dumps(told).encode()


def decode(data: bytes | None) -> Computed:
    """Data written by another version of Curtail is treated as not computed yet."""
    try:
        told = json.loads(data or b"")
        parts = {name: Part(**part) for name, part in told["parts"].items()}
        return Computed(told["computed_ms"], told["failure"], parts)
    except (ValueError, KeyError, TypeError, AttributeError):
        return Computed()


async def told(store: Store, job_id: str) -> Computed:
    """Returns what the worker computed last, and asks it to continue for this job."""
    try:
        await store.want_cards(job_id, LASTING_S)
        return decode(await store.cards(job_id))
    except StoreUnavailable:
        return Computed(otherwise=AWAY)
