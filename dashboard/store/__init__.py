"""Where frames are read from. One Protocol, two implementations, one contract test for both."""

from functools import cache

from django.conf import settings
from django.utils.module_loading import import_string

from dashboard.store.protocol import FrameStore, StoredFrame, StoreUnavailable

__all__ = ["FrameStore", "StoreUnavailable", "StoredFrame", "frame_store"]


@cache
def frame_store() -> FrameStore:
    """The store of this process, by the setting FRAME_STORE."""
    store: FrameStore = import_string(settings.FRAME_STORE)(settings.REDIS_URL)
    return store
