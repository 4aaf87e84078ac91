"""All jobs as Prometheus sees them."""

from dashboard.prometheus.exposition import exposition
from dashboard.prometheus.table import runs
from dashboard.prometheus.text import CONTENT_TYPE

__all__ = ["CONTENT_TYPE", "exposition", "runs"]
