"""Records that outlive Redis, one noun per file."""

from dashboard.models.incidents import Incident
from dashboard.models.jobs import Job, Run
from dashboard.models.slos import Slo
from dashboard.models.tags import Tag

__all__ = ["Incident", "Job", "Run", "Slo", "Tag"]
