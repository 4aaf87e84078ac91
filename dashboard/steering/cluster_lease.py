"""Which jobs form a cluster, and until when a decision for all of them holds."""

from collections.abc import Iterable

from dashboard.models import ClusterLease, Tag, TechniqueSetting
from dashboard.steering.registered import registry

LABEL = "cluster:"


def labels_of(job_ids: Iterable[str]) -> dict[str, str]:
    """The cluster label of each job; its own id if it has no `cluster:` tag."""
    labels = {job_id: job_id for job_id in job_ids}
    tags = Tag.objects.filter(job_id__in=labels, name__startswith=LABEL)
    # If a job has several such tags, the first by name counts.
    for tag in tags.order_by("-name"):
        labels[tag.job_id] = tag.name
    return labels


def holds(setting: TechniqueSetting, now_ms: int) -> bool:
    """Whether the worker that decides for the setting's cluster has renewed it in time."""
    label = labels_of([setting.job_id])[setting.job_id]
    lease = ClusterLease.objects.filter(technique=setting.technique, label=label).first()
    lease_ms = registry().techniques[setting.technique].lease_ms
    return lease is not None and now_ms - lease.renewed_ms <= lease_ms


def renew(technique: str, label: str, now_ms: int) -> None:
    ClusterLease.objects.update_or_create(
        technique=technique, label=label, defaults={"renewed_ms": now_ms}
    )
