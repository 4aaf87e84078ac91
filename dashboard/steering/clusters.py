"""Decisions for several jobs at once: techniques of cluster scope.

A *cluster* is a technique and a label: all jobs that carry the tag `cluster:<name>` and for which
the technique is switched on. A job without such a tag is a cluster of its own. One worker decides
for all jobs of a cluster, also for those of other workers, and renews one lease for them: when it
dies or cannot decide, the decision ends for all of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction

from dashboard.models import TechniqueSetting
from dashboard.steering import cluster_lease, cluster_size, controllers
from dashboard.steering.failures import Failures
from dashboard.steering.registered import registry
from dashboard.store import Store
from dashboard.worker.histories import Histories, Newest
from dashboard.worker.job_leases import Leases
from techniques.model import Mode, Scope
from techniques.view import View

DECIDES_EVERY_MS = 5_000
# A job whose newest frame is older does not run, and has no part in a decision.
NEWEST_MS = 3_000


@dataclass(frozen=True)
class Cluster:
    technique: str
    label: str
    settings: tuple[TechniqueSetting, ...]

    @property
    def key(self) -> str:
        """The key by which one worker owns the cluster, in the same way as a job id."""
        return f"{self.technique}/{self.label}"

    @property
    def job_ids(self) -> list[str]:
        return [setting.job_id for setting in self.settings]


class Clusters:
    """Decides for the clusters of this process. `others`: histories of other workers' jobs."""

    def __init__(
        self, leases: Leases, histories: Histories, failures: Failures, others: Histories
    ) -> None:
        self._leases = leases
        self._histories = histories
        self._failures = failures
        self._others = others
        self._looked_ms: dict[str, int] = {}

    def round(self, store: Store, now_ms: int) -> list[str]:
        """Lets controllers decide; returns the jobs with a new decision."""
        ours = [each for each in found() if self._leases.holds(each.key)]
        self._looked_ms = {
            each.key: ms for each in ours if (ms := self._looked_ms.get(each.key)) is not None
        }
        foreign = [j for each in ours for j in each.job_ids if not self._leases.holds(j)]
        self._others.keep(foreign)
        if foreign:
            self._others.read(store, foreign, now_ms)
        decided: list[str] = []
        for cluster in ours:
            with self._failures.kept_to(*cluster.job_ids):
                decided += self._look(cluster, now_ms)
        return decided

    def _look(self, cluster: Cluster, now_ms: int) -> list[str]:
        running = {
            setting.job_id: (setting, newest, view)
            for setting in cluster.settings
            if (newest := self._of(setting.job_id).newest(setting.job_id))
            and newest.window_start_ms >= now_ms - NEWEST_MS
            and (view := self._of(setting.job_id).view(setting.job_id)) is not None
        }
        decided: list[str] = []
        is_due = now_ms - self._looked_ms.get(cluster.key, 0) >= DECIDES_EVERY_MS
        if running and is_due:
            decided = _decide(cluster.technique, cluster.label, running, now_ms)
            self._looked_ms[cluster.key] = now_ms
        # Renew last: if the controller throws, its earlier decision must expire.
        cluster_lease.renew(cluster.technique, cluster.label, now_ms)
        return decided

    def _of(self, job_id: str) -> Histories:
        return self._histories if self._leases.holds(job_id) else self._others


def found() -> list[Cluster]:
    """All clusters with a technique switched on, each with its settings ordered by job."""
    names = [name for name, each in registry().techniques.items() if each.scope == Scope.CLUSTER]
    if not names:
        return []
    asked = TechniqueSetting.objects.filter(technique__in=names).exclude(mode=Mode.OFF)
    labels = cluster_lease.labels_of([setting.job_id for setting in asked])
    clusters: dict[tuple[str, str], list[TechniqueSetting]] = {}
    for setting in asked.order_by("job_id"):
        clusters.setdefault((setting.technique, labels[setting.job_id]), []).append(setting)
    return [Cluster(*key, tuple(settings)) for key, settings in sorted(clusters.items())]


@transaction.atomic
def _decide(
    technique: str,
    label: str,
    running: Mapping[str, tuple[TechniqueSetting, Newest, View]],
    now_ms: int,
) -> list[str]:
    """Writes the decisions of all jobs in one transaction; returns the jobs with a new one."""
    past = {
        job_id: controllers.past(setting, newest.run_id)
        for job_id, (setting, newest, _) in running.items()
    }
    settings = {job_id: setting for job_id, (setting, _, _) in running.items()}
    options = cluster_size.options(label, settings)
    views = {job_id: view for job_id, (_, _, view) in running.items()}
    decisions = registry().cluster_controller(technique).decide_all(views, options, past)
    unknown: Sequence[str] = sorted(set(decisions) - set(running))
    if unknown:
        raise ValueError(f"{technique} decided for {', '.join(unknown)}, which it was not shown")
    return [
        job_id
        for job_id, decision in decisions.items()
        if controllers.keep(running[job_id][0], decision, now_ms)
    ]
