"""The clusters that tags make: their jobs with SLOs, and what their state machine decided."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models import OuterRef, QuerySet, Subquery

from dashboard.fleet.jobs import newest_runs
from dashboard.models import ClusterSize, Slo, Tag, TechniqueDecision, TechniqueSetting
from dashboard.slo.current import read
from dashboard.steering.cluster_lease import LABEL
from techniques.model import Mode
from techniques.slo.memory import Entry, Memory
from techniques.slo.objective import Objective

TECHNIQUE = "slo"
# A memory has the newest entries of its log; those before them are in earlier memories.
MOST_MEMORIES = 10


@dataclass(frozen=True)
class Member:
    """A job of a cluster; `slo` and `objective` are None where it has no SLO."""

    job_id: str
    slo: Slo | None = None
    objective: Objective | None = None
    has_ended: bool = False


@dataclass(frozen=True)
class Cluster:
    """`memory` is that of the newest decision since the technique was switched last, None if there
    is none."""

    name: str
    members: tuple[Member, ...]
    size: int | None = None
    mode: Mode = Mode.OFF
    memory: Memory | None = field(default=None)

    @property
    def job_ids(self) -> list[str]:
        return [each.job_id for each in self.members]


def found(name: str | None = None) -> list[Cluster]:
    """All clusters by name, or only the one; none if no job has its tag. Of several such tags of a
    job the first counts, as for decisions."""
    labels: dict[str, str] = {}
    for tag in Tag.objects.filter(name__startswith=LABEL).order_by("-name"):
        labels[tag.job_id] = tag.name
    if name is not None:
        labels = {job_id: label for job_id, label in labels.items() if label == LABEL + name}
    members = _members(labels)
    settings = _settings(labels)
    sizes = dict(ClusterSize.objects.values_list("label", "size"))
    return [
        _cluster(
            label,
            [job_id for job_id in sorted(labels) if labels[job_id] == label],
            members,
            settings,
            sizes,
        )
        for label in sorted(set(labels.values()))
    ]


def _cluster(
    label: str,
    job_ids: Sequence[str],
    members: Mapping[str, Member],
    settings: Mapping[str, TechniqueSetting],
    sizes: Mapping[str, int],
) -> Cluster:
    own = [settings[job_id] for job_id in job_ids if job_id in settings]
    modes = {each.mode for each in own}
    mode = next((mode for mode in (Mode.ACT, Mode.ADVISE) if mode in modes), Mode.OFF)
    return Cluster(
        label.removeprefix(LABEL),
        tuple(members[job_id] for job_id in job_ids),
        sizes.get(label),
        mode,
        _memory(own),
    )


def _members(job_ids: Iterable[str]) -> dict[str, Member]:
    wanted = list(job_ids)
    held = Slo.objects.filter(job_id__in=wanted, objective__isnull=False)
    slos = {slo.job_id: slo for slo in held}
    ended = set(
        newest_runs(ended_ms__isnull=False, job_id__in=wanted).values_list("job_id", flat=True)
    )
    return {job_id: _member(job_id, slos.get(job_id), job_id in ended) for job_id in wanted}


def _member(job_id: str, slo: Slo | None, has_ended: bool) -> Member:
    objective = read(job_id, slo.objective) if slo is not None else None
    return Member(job_id, slo, objective, has_ended)


def _settings(job_ids: Iterable[str]) -> dict[str, TechniqueSetting]:
    asked = TechniqueSetting.objects.filter(job_id__in=list(job_ids), technique=TECHNIQUE)
    return {each.job_id: each for each in asked.exclude(mode=Mode.OFF)}


def _memory(settings: Sequence[TechniqueSetting]) -> Memory | None:
    since_ms = {each.job_id: each.changed_ms for each in settings}
    now = [each for each in _newest(since_ms) if each.at_ms >= since_ms[each.job_id]]
    memories = [Memory.of(each.memory) for each in now if each.memory]
    # What is remembered is written into decisions that stay the same: the latest round counts.
    return max(memories, key=lambda each: each.seen_ms, default=None)


def entries(cluster: Cluster, since_ms: int) -> list[Entry]:
    """What happened since then, the newest first. It is told also where the technique is off by
    now."""
    log = [entry for each in _newest(cluster.job_ids) for entry in Memory.of(each.memory).log]
    told: dict[tuple[int, str, tuple[str, ...]], Entry] = {}
    for _ in range(MOST_MEMORIES):
        told.update(((each.at_ms, each.what, each.jobs), each) for each in log)
        if not log or (before_ms := min(each.at_ms for each in log)) < since_ms:
            break
        log = _log_before(cluster.job_ids, before_ms)
    recent = (each for each in told.values() if each.at_ms >= since_ms)
    return sorted(recent, key=lambda each: -each.at_ms)


def _log_before(job_ids: Sequence[str], before_ms: int) -> list[Entry]:
    """Earlier entries, of the newest decision before then."""
    decisions = _decisions(job_ids).filter(at_ms__lt=before_ms).order_by("-at_ms", "-pk")
    told = next((each for each in decisions[: len(job_ids)] if each.memory), None)
    log = Memory.of(told.memory).log if told else ()
    return [each for each in log if each.at_ms < before_ms]


def _newest(job_ids: Iterable[str]) -> QuerySet[TechniqueDecision]:
    """The newest decision of each job."""
    of_job = TechniqueDecision.objects.filter(job=OuterRef("job"), technique=TECHNIQUE)
    newest = of_job.order_by("-at_ms", "-pk").values("pk")[:1]
    return _decisions(job_ids).filter(pk=Subquery(newest))


def _decisions(job_ids: Iterable[str]) -> QuerySet[TechniqueDecision]:
    return TechniqueDecision.objects.filter(job_id__in=list(job_ids), technique=TECHNIQUE)
