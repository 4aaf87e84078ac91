"""The hub of this process: one per event loop, so that it never outlives its loop."""

import asyncio
from weakref import WeakKeyDictionary

from dashboard.live import card_texts
from dashboard.live.hub import Hub
from dashboard.store import the_store

_hubs: WeakKeyDictionary[asyncio.AbstractEventLoop, Hub] = WeakKeyDictionary()


def hub() -> Hub:
    loop = asyncio.get_running_loop()
    if loop not in _hubs:
        _hubs[loop] = Hub(the_store(), card_texts.text)
    return _hubs[loop]
