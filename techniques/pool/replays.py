"""Which chunks a task sends a second time, and how many it may."""

import random
from dataclasses import dataclass

from techniques.pool import settings
from techniques.pool.page import Page
from techniques.pool.page_words import HeaderWord
from techniques.pool.settings import Replay

# What may be saved up for a burst, in chunks sent: a hang hits many chunks at once.
SAVED_CHUNKS = 400


@dataclass
class Budget:
    """Replays as a share of the chunks sent: each chunk earns a part of a replay."""

    earned: float = 1.0

    def sent(self, share: float) -> None:
        self.earned = min(max(1.0, share * SAVED_CHUNKS), self.earned + share)

    @property
    def allows(self) -> bool:
        return self.earned >= 1

    def spent(self) -> None:
        self.earned -= 1


def share(page: Page) -> float:
    """The share of chunks that may be replayed."""
    return page.setting(settings.REPLAY_BUDGET) / 10_000


def timeout_ns(page: Page) -> int | None:
    """Returns the age at which a chunk is replayed; None if none is by its age."""
    if page.setting(settings.REPLAY) not in (Replay.ADAPTIVE, Replay.HEDGE):
        return None
    return page.words[HeaderWord.TIMEOUT_US] * 1000 or None


def at_once(page: Page) -> bool:
    """Draws whether a chunk is sent twice from the start."""
    return page.setting(settings.REPLAY) == Replay.BLIND and random.random() < share(page)
