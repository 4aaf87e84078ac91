"""Records that outlive Redis, one noun per file."""

from dashboard.models.jobs import Job, Run

__all__ = ["Job", "Run"]
