"""REST under /api/v1, with OpenAPI at /api/v1/openapi.json and a browser at /api/v1/docs."""

from dashboard.api.root import api

__all__ = ["api"]
