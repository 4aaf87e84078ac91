"""A browser, for one job at a time: what is measured here needs the machine to itself."""

from tests.frontend.conftest import chromium, page

__all__ = ["chromium", "page"]
