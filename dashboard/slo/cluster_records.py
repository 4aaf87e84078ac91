"""The clusters that tags make: their jobs with SLOs, and what their state machine decided."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

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
    return Member(job_id, slo, slo and read(job_id, slo.objective), has_ended)


def _settings(job_ids: Iterable[str]) -> dict[str, TechniqueSetting]:
    asked = TechniqueSetting.objects.filter(job_id__in=list(job_ids), technique=TECHNIQUE)
    return {each.job_id: each for each in asked.exclude(mode=Mode.OFF)}


def _memory(settings: Sequence[TechniqueSetting]) -> Memory | None:
    since_ms = {each.job_id: each.changed_ms for each in settings}
    decisions = TechniqueDecision.objects.filter(job_id__in=list(since_ms), technique=TECHNIQUE)
    for each in decisions.order_by("-at_ms", "-pk")[: len(since_ms)]:
        if each.at_ms >= since_ms[each.job_id] and each.memory:
            return Memory.of(each.memory)
    return None


def entries(cluster: Cluster, since_ms: int) -> list[Entry]:
    """What happened since then, the newest first. It is told also where the technique is off by
    now."""
    told: dict[tuple[int, str, tuple[str, ...]], Entry] = {}
    before_ms: int | None = None
    for _ in range(MOST_MEMORIES):
        log = _log(cluster.job_ids, before_ms)
        told.update(((each.at_ms, each.what, each.jobs), each) for each in log)
        oldest_ms = min((each.at_ms for each in log), default=None)
        if oldest_ms is None or oldest_ms < since_ms or oldest_ms == before_ms:
            break
        before_ms = oldest_ms
    recent = (each for each in told.values() if each.at_ms >= since_ms)
    return sorted(recent, key=lambda each: -each.at_ms)


def _log(job_ids: Sequence[str], before_ms: int | None) -> tuple[Entry, ...]:
    decisions = TechniqueDecision.objects.filter(job_id__in=job_ids, technique=TECHNIQUE)
    if before_ms is not None:
        decisions = decisions.filter(at_ms__lt=before_ms)
    for each in decisions.order_by("-at_ms", "-pk")[: len(job_ids)]:
        if each.memory:
            return Memory.of(each.memory).log
    return ()
