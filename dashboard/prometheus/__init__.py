"""All jobs as Prometheus sees them."""

from dashboard.prometheus.exposition import exposition
from dashboard.prometheus.table import runs

__all__ = ["exposition", "runs"]
