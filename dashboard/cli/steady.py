"""Whether an example job that was just started has warmed up, by its announcement in Redis."""

import asyncio
from collections.abc import Sequence
from typing import Protocol

from collectors.formats.announcement import Announcement
from dashboard.store import StoreUnavailable


class Announced(Protocol):
    """The part of `dashboard.store.redis.RedisStore` that is used here."""

    async def announcements(self) -> Sequence[Announcement]: ...


def is_steady(application: str, announcements: Sequence[Announcement]) -> bool:
    """Whether a query of this application has completed batches and warms up no longer."""
    return any(
        said.application == application
        and said.pulse is not None
        and said.pulse.batches > 0
        and not said.pulse.warming_up
        for said in announcements
    )


async def wait_for(
    store: Announced, application: str, timeout_s: float, every_s: float = 0.5
) -> bool:
    """Returns false if the time is up first: a job that cannot start must not delay the others."""
    try:
        async with asyncio.timeout(timeout_s):
            # Polling: another process cannot set an asyncio event.
            while not is_steady(application, await _announced(store)):  # noqa: ASYNC110
                await asyncio.sleep(every_s)
    except TimeoutError:
        return False
    return True


async def _announced(store: Announced) -> Sequence[Announcement]:
    try:
        return await store.announcements()
    except StoreUnavailable:
        return ()  # its supervisor starts it again
