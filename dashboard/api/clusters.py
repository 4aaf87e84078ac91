"""Clusters: jobs that share a tag `cluster:<name>`, their SLOs, and what is done for them."""

import time
from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Query, Router, Schema
from ninja.errors import HttpError
from pydantic import Field

from dashboard.accounts.roles import caller, operators
from dashboard.api.fields import Reason
from dashboard.api.fleet_schemas import ObjectiveOut
from dashboard.models.clusters import LARGEST
from dashboard.slo import cluster_page, cluster_records
from dashboard.slo.cluster_records import Cluster
from dashboard.slo.hours import DAY_MS, HOUR_MS
from dashboard.steering import cluster_size
from dashboard.steering.cluster_lease import LABEL
from techniques.model import Mode

router = Router(tags=["clusters"])

SHORTEST_MS = 600_000


class HeadOut(Schema):
    """`utility` is the total of all jobs with an SLO that are measured now, `max_utility` what it
    would be if all of them reached theirs. `state` is that of Henge's state machine, null while it
    has decided nothing; `size` null while nobody has set it."""

    name: str
    mode: Mode
    state: str | None
    size: int | None
    utility: float | None
    max_utility: float


class ClusterItemOut(HeadOut):
    jobs: int
    with_slo: int
    met: int


class ClustersOut(Schema):
    items: list[ClusterItemOut]
    now_ms: int


class BudgetOut(Schema):
    """Of the bins of ten seconds that were judged, how many missed the SLO. `burn_rate` is their
    share in multiples of what is allowed; `left` what is left of the error budget."""

    judged: int
    missed: int
    burn_rate: float
    left: float


class BlacklistedOut(Schema):
    until_ms: int
    why: str


class ClusterJobOut(Schema):
    """`met` is null while the SLO's values are not measured. `budgets` are over "1h" and "1d"."""

    id: str
    objective: ObjectiveOut | None
    version: int
    latency_ms: float | None
    juice: float | None
    utility: float | None
    met: bool | None
    budgets: dict[str, BudgetOut]
    blacklisted: BlacklistedOut | None


class UtilitySeriesOut(Schema):
    """A value per step from `t` on; of steps longer than ten seconds it is the lowest in them. The
    total is of the jobs that were measured then."""

    step_ms: int
    t: list[int]
    total: list[float | None]
    max: list[float | None]
    jobs: dict[str, list[float | None]]


class ActionOut(Schema):
    """Something that the state machine did or found; `utility` is the total then."""

    at_ms: int
    what: str
    jobs: list[str]
    says: str
    utility: float | None


class ClusterOut(HeadOut):
    since_ms: int | None
    jobs: list[ClusterJobOut]
    series: UtilitySeriesOut
    actions: list[ActionOut]
    now_ms: int


class SizeIn(Schema):
    """Units of parallelism (threads, instances, slots) that all its jobs may take together."""

    size: Annotated[int, Field(gt=0, le=LARGEST)] | None
    reason: Reason = ""


Span = Annotated[int, Query(ge=SHORTEST_MS, le=DAY_MS, description="of the series, up to now")]


@router.get("", response=ClustersOut, summary="All clusters")
def clusters(request: HttpRequest) -> dict[str, Any]:
    now_ms = _now()
    items = [cluster_page.summary(each, now_ms) for each in cluster_records.found()]
    return {"items": items, "now_ms": now_ms}


@router.get("/{name}", response=ClusterOut, summary="One cluster")
def cluster(request: HttpRequest, name: str, span_ms: Span = HOUR_MS) -> dict[str, Any]:
    return cluster_page.page(_known(name), span_ms, _now())


@router.put("/{name}", response=ClusterItemOut, auth=operators, summary="Set a cluster's size")
def put_cluster(request: HttpRequest, name: str, payload: SizeIn) -> dict[str, Any]:
    _known(name)
    cluster_size.put(f"{LABEL}{name}", payload.size, caller(request).who, payload.reason)
    return cluster_page.summary(_known(name), _now())


def _known(name: str) -> Cluster:
    found = cluster_records.found(name)
    if not found:
        raise HttpError(404, f"no job has the tag {LABEL}{name}")
    return found[0]


def _now() -> int:
    return time.time_ns() // 1_000_000
