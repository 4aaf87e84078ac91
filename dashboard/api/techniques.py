"""Technique cards of a job, and the switch on each of them."""

import logging
import time
from collections.abc import Iterable
from typing import Annotated, Any

from asgiref.sync import async_to_sync
from django.http import HttpRequest
from ninja import Router, Schema
from ninja.errors import HttpError
from pydantic import Field

from dashboard.accounts.roles import caller, operators
from dashboard.api.fields import Reason
from dashboard.api.incidents import AdviceOut
from dashboard.api.problems import BadInput, Conflict
from dashboard.models import Job, Stand, TechniqueSetting
from dashboard.steering import cards, computed, documents, errands, switches
from dashboard.steering.registered import registry
from dashboard.steering.switches import Outdated, Switch
from dashboard.store import StoreUnavailable, the_store
from techniques.model import FigureKind, Mode, OptionKind
from techniques.options import OptionFault

log = logging.getLogger(__name__)

router = Router(tags=["techniques"])

MOST_OPTIONS = 32
Value = bool | int | float | str


class ConditionsOut(Schema):
    hold: bool | None
    why: str
    first: AdviceOut | None


class OptionOut(Schema):
    name: str
    title: str
    kind: OptionKind
    value: Value
    default: Value
    low: float | None
    high: float | None
    choices: list[str]
    unit: str


class EvidenceOut(Schema):
    name: str
    value: str


class DecisionOut(Schema):
    at_ms: int
    reason: str
    evidence: list[EvidenceOut]
    settings: dict[str, Any]


class AxisOut(Schema):
    """An axis of a figure. Durations have the unit ms."""

    label: str
    unit: str


class DotOut(Schema):
    """A point of a figure. `weight` is the amount of data behind it and sets its drawn size."""

    x: float
    y: float
    weight: float
    says: str


class MarkOut(Schema):
    x: float
    label: str


class SeriesOut(Schema):
    """A line, from left to right."""

    name: str
    x: list[float]
    y: list[float]


class BarOut(Schema):
    label: str
    value: float
    says: str


class CellOut(Schema):
    """A square of a grid: `value` sets its colour, `size` (0 to 1) its area."""

    row: int
    column: int
    value: float
    size: float
    says: str


class ShiftOut(Schema):
    """What is in a column went from one row to another."""

    column: int
    from_row: int
    to_row: int
    says: str
    ago_s: float


class GridOut(Schema):
    """Cells count rows and columns from 0. `sizes` names what the areas show; it is empty if they
    are all the same."""

    rows: list[str]
    columns: list[str]
    cells: list[CellOut]
    shifts: list[ShiftOut]
    sizes: str


class FigureOut(Schema):
    """What the card draws: `points`, `series`, `bars` or `grid`, depending on its kind. `weighs`
    names what the size of a point shows. If there is nothing to draw, `note` says why."""

    kind: FigureKind
    title: str
    x: AxisOut
    y: AxisOut
    points: list[DotOut]
    weighs: str
    mark: MarkOut | None
    note: str
    series: list[SeriesOut]
    bars: list[BarOut]
    grid: GridOut | None = None  # what a worker of an earlier version computed has none


class SideOut(Schema):
    """Means over blocks of ten seconds, in ms."""

    start_ms: int
    end_ms: int
    count: int
    blocks: int
    p50: float
    p99: float
    p999: float


class RatioOut(Schema):
    """after / before with its 95 % confidence interval over blocks; null with too few blocks."""

    ratio: float
    low: float | None
    high: float | None


class EffectOut(Schema):
    before: SideOut
    after: SideOut
    ratios: dict[str, RatioOut | None]


class CardOut(Schema):
    name: str
    title: str
    sentence: str
    needs: str
    mode: Mode
    state: Stand
    because: str
    since_ms: int | None
    by: str
    version: int
    document_version: Annotated[
        int, Field(description="of the control document that asks for it; live batches name theirs")
    ]
    computed_ms: Annotated[
        int | None, Field(description="when the worker computed conditions, figure and effect")
    ]
    failure: Annotated[str, Field(description="what went wrong with this job in the worker")]
    conditions: ConditionsOut
    options: list[OptionOut]
    decision: DecisionOut | None
    figure: FigureOut | None
    effect: EffectOut | None


class CardsOut(Schema):
    items: list[CardOut]


class SwitchIn(Schema):
    mode: Mode
    options: dict[str, Value] = Field(default_factory=dict, max_length=MOST_OPTIONS)
    reason: Reason = ""
    version: Annotated[
        int, Field(ge=0, lt=2**63, description="of the card that you saw; 409 if it has changed")
    ]


@router.get("/{job_id}/techniques", response=CardsOut, summary="A job's technique cards")
def techniques(request: HttpRequest, job_id: str) -> dict[str, Any]:
    return {"items": _cards(_known(job_id))}


@router.put(
    "/{job_id}/techniques/{name}",
    response=CardOut,
    auth=operators,
    summary="Switch a technique off, to advise or to act",
)
def switch_technique(
    request: HttpRequest, job_id: str, name: str, body: SwitchIn
) -> dict[str, Any]:
    """The card comes back as *asked*; it is *applied* once the running job says so."""
    job = _known(job_id)
    if name not in registry().techniques:
        raise HttpError(404, f"no technique {name}")
    asked = Switch(body.mode, body.options, body.reason, body.version)
    now_ms = time.time_ns() // 1_000_000
    try:
        switches.switch(job, name, asked, caller(request).who, now_ms)
    except OptionFault as fault:
        raise BadInput(f"options.{fault.field}", fault.why) from None
    except Outdated:
        raise Conflict(_what_changed(job, name), _card(job, name)) from None
    _tell(job, now_ms)
    return _card(job, name)


def _tell(job: Job, now_ms: int) -> None:
    """Writes the document and has a worker decide immediately, instead of waiting for the worker's
    next round; where Redis is away that round does it."""
    try:
        written = documents.document(job.pk, now_ms)
        async_to_sync(documents.write)(the_store(), job.pk, written)
    except StoreUnavailable as error:
        log.warning("%s will be told of its switch later: %s", job.pk, error)
    else:
        errands.steer_soon(job.pk)


def _what_changed(job: Job, name: str) -> str:
    now = TechniqueSetting.objects.get(job=job, technique=name)
    return f"{now.by} switched {name} to {now.mode} meanwhile"


def _cards(job: Job, names: Iterable[str] | None = None) -> list[dict[str, Any]]:
    return cards.cards(job, async_to_sync(computed.told)(the_store(), job.pk), names)


def _card(job: Job, name: str) -> dict[str, Any]:
    return _cards(job, (name,))[0]


def _known(job_id: str) -> Job:
    try:
        return Job.objects.get(pk=job_id)
    except Job.DoesNotExist:
        raise HttpError(404, f"no job {job_id}") from None
