"""The objectives that jobs have now."""

import logging
from collections.abc import Mapping
from typing import Any

from dashboard.models import Slo
from techniques.slo.objective import Invalid, Objective, parse

log = logging.getLogger(__name__)


def current() -> dict[str, Objective]:
    """By job; jobs without an SLO are left out."""
    held = Slo.objects.filter(objective__isnull=False).values_list("job_id", "objective")
    found = {job_id: read(job_id, objective) for job_id, objective in held}
    return {job_id: objective for job_id, objective in found.items() if objective is not None}


def read(job_id: str, objective: Mapping[str, Any] | None) -> Objective | None:
    """The value of a stored objective. None also for one that a later version has written."""
    if objective is None:
        return None
    try:
        return parse(objective)
    except Invalid as error:
        log.warning("the SLO of %s cannot be read: %s", job_id, error)
        return None
