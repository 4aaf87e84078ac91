"""Whether a sender may drain its outgoing queue now (Hone, section 5)."""

import time

from techniques.pool import settings
from techniques.pool.page import Page
from techniques.pool.page_words import HeaderWord

# Who sets the signals has died, or hangs: better any order than none.
STALE_NS = 1_000_000_000


def may_send(page: Page, signal_at: int) -> bool:
    return (
        not page.setting(settings.TAU_MS)
        or page.words[signal_at] != 0
        or time.monotonic_ns() - page.words[HeaderWord.BEAT] > STALE_NS
    )
