"""Records that outlive Redis, one noun per file."""

from dashboard.models.jobs import Job, Run
from dashboard.models.techniques import (
    ControlDocument,
    Stand,
    TechniqueDecision,
    TechniqueSetting,
)

__all__ = ["ControlDocument", "Job", "Run", "Stand", "TechniqueDecision", "TechniqueSetting"]
