"""Jobs as the API lists them, and what it takes about them."""

from typing import Annotated, Any, Literal

from ninja import Schema
from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

from dashboard.api.fields import Reason
from dashboard.api.schemas import CollectorOut
from dashboard.fleet.tags import MOST_TAGS
from dashboard.models.tags import LONGEST_TAG
from dashboard.steering.cluster_lease import LABEL
from techniques.slo.objective import Of, Shape, Statistic

TagName = Annotated[
    str,
    BeforeValidator(lambda given: given.strip().lower() if isinstance(given, str) else given),
    StringConstraints(pattern=r"^[a-z0-9._:-]+$", max_length=LONGEST_TAG),
]


def _one_cluster(tags: list[str]) -> list[str]:
    labels = sorted({tag for tag in tags if tag.startswith(LABEL)})
    if len(labels) > 1:
        raise ValueError(f"a job is in one cluster at most, not in {' and '.join(labels)}")
    if LABEL in labels:
        raise ValueError(f"a cluster's name is missing behind {LABEL}")
    return tags


class RunOut(Schema):
    run_id: str
    application_id: str
    spark_version: str
    driver_host: str
    started_ms: int
    ended_ms: int | None
    end_reason: str


class UtilityOut(Schema):
    """What reaching a part of a target is worth; `points` are pairs of a value and a share."""

    shape: Shape
    points: list[list[float]] = Field(default_factory=list)


class LatencyTargetOut(Schema):
    of: Of
    statistic: Statistic
    threshold_ms: float
    utility: UtilityOut


class JuiceTargetOut(Schema):
    """The share of the source's input that is to be processed."""

    threshold: float
    utility: UtilityOut


class ObjectiveOut(Schema):
    """`priority` is the utility of a job that reaches all its targets."""

    latency: LatencyTargetOut | None
    juice: JuiceTargetOut | None
    priority: float


class JobSloOut(Schema):
    """`latency_ms` and `juice` are those that the objective is about, as measured last; null while
    nothing is. `ratio` says how many times the worst target is missed; at most 1 if all are met.
    `violated_ms` is since when too much of the error budget is used up."""

    objective: ObjectiveOut
    version: int
    latency_ms: float | None
    juice: float | None
    utility: float | None
    ratio: float | None
    violated_ms: int | None


class RecentOut(Schema):
    """The p99 of complete bins of `step_ms`, oldest first; null where nothing completed, and while
    the run warmed up."""

    start_ms: int
    step_ms: int
    p99_ms: list[float | None]


class TechniqueOut(Schema):
    name: str
    title: str
    mode: Literal["advise", "act"]
    state: Literal["asked", "applied", "refused"]


class JobOut(Schema):
    """`warming_up`: the run has just started and its batches still get shorter; until they no
    longer do, or for a minute, its latencies are in no incident, no SLO and no `p99_recent`."""

    id: str
    application: str
    query: str
    state: Literal["running", "stale", "ended", "failed"]
    warming_up: bool
    first_seen_ms: int
    last_seen_ms: int
    run: RunOut | None
    tags: list[str]
    slo: JobSloOut | None
    p99_ms: float | None
    p99_source: Literal["record", "batch", "none"]
    p99_recent: RecentOut
    backlog_rows: int | None
    open_incidents: int
    incidents_last_hour: int
    watched: bool
    failure: str
    techniques: list[TechniqueOut]
    collector: CollectorOut | None


class JobsOut(Schema):
    """`count` is how many match, on all pages; `store` is "away" while numbers are missing."""

    items: list[JobOut]
    count: int
    next: str | None
    now_ms: int
    store: Literal["ok", "away"]


class SloIn(Schema):
    """`objective` has the form of `ObjectiveOut`; what it leaves out has its default."""

    objective: dict[str, Any] | None
    reason: Reason = ""
    version: int = Field(ge=0, lt=2**31)


class SloOut(Schema):
    """`reason` is that of the last change."""

    objective: ObjectiveOut | None
    version: int
    reason: str


class TagsIn(Schema):
    """At most one tag may begin with `cluster:`: a job has one share of one cluster."""

    tags: Annotated[list[TagName], AfterValidator(_one_cluster)] = Field(max_length=MOST_TAGS)
    reason: Reason = ""


class TagsOut(Schema):
    tags: list[str]
