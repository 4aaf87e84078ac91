"""Where streams are read from. One Protocol, two implementations, one contract test for both."""

from functools import cache

from django.conf import settings
from django.utils.module_loading import import_string

from dashboard.store.protocol import Entry, Store, StoreUnavailable

__all__ = ["Entry", "Store", "StoreUnavailable", "the_store"]


@cache
def the_store() -> Store:
    """The store of this process, by the setting STORE."""
    store: Store = import_string(settings.STORE)(settings.REDIS_URL)
    return store
