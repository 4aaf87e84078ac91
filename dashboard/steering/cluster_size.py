"""How large a cluster is: set by operators, told to controllers that have an option for it."""

from collections.abc import Mapping

from django.db import transaction

from dashboard.accounts import audit
from dashboard.models import ClusterSize, TechniqueSetting
from dashboard.steering import controllers
from techniques.model import Options

# The option of a technique of cluster scope that is the cluster's and not the job's.
SIZE = "size"


def of(label: str) -> int | None:
    """None if nobody has said."""
    return ClusterSize.objects.filter(label=label).values_list("size", flat=True).first()


@transaction.atomic
def put(label: str, size: int | None, who: str, reason: str) -> None:
    """Each change is in the audit; what was set already is none."""
    held = ClusterSize.objects.select_for_update().filter(label=label).first()
    before = held.size if held else None
    if size == before:
        return
    if size is None:
        ClusterSize.objects.filter(label=label).delete()
    else:
        ClusterSize.objects.update_or_create(label=label, defaults={"size": size})
    audit.record(who, "cluster.sized", label, None, {"size": before}, {"size": size}, reason)


def options(label: str, settings: Mapping[str, TechniqueSetting]) -> dict[str, Options]:
    """The options of each job, with the cluster's size in place of a job's own."""
    size = of(label)
    given = {job_id: controllers.given(setting) for job_id, setting in settings.items()}
    if size is None:
        return given
    return {
        job_id: {**each, SIZE: size} if SIZE in each else each for job_id, each in given.items()
    }
