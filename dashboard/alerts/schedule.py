"""When to try again: exponential backoff with jitter, over 24 hours. Pure.

After attempt n failed, the next follows after 5 s × 2ⁿ⁻¹, at most an hour, shortened at random by
up to a half, so that deliveries that failed together are not retried together. The last attempt is
24 h after the first: a receiver that is repaired within a day misses nothing.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

FIRST_MS = 5_000
LONGEST_MS = 3_600_000
KEEP_TRYING_MS = 86_400_000


def next_due_ms(
    failed: int,
    first_ms: int,
    now_ms: int,
    retry_after_ms: int | None,
    random: Callable[[], float],
) -> int | None:
    """`failed`: attempts so far, from 1; `random()` is in [0, 1). Returns None to give up."""
    last_ms = first_ms + KEEP_TRYING_MS
    if now_ms >= last_ms:
        return None
    # The delay is at its maximum well before the 15th doubling: keeps the number small.
    whole_ms = min(FIRST_MS << min(failed - 1, 15), LONGEST_MS)
    wait_ms = whole_ms // 2 + int(random() * (whole_ms - whole_ms // 2))
    return min(now_ms + max(wait_ms, retry_after_ms or 0), last_ms)


def retry_after_ms(header: str | None, now_ms: int) -> int | None:
    """Parses Retry-After, seconds or a date (RFC 9110); None if it is neither."""
    text = (header or "").strip()
    if not text:
        return None
    if text.isascii() and text.isdigit():
        # A number of seconds with more digits is not meant seriously.
        return min(int(text) * 1000, KEEP_TRYING_MS) if len(text) < 10 else KEEP_TRYING_MS
    try:
        at = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    if at.tzinfo is None:
        at = at.replace(tzinfo=UTC)
    waits_ms = int((at - datetime.fromtimestamp(now_ms / 1000, UTC)).total_seconds() * 1000)
    return min(max(waits_ms, 0), KEEP_TRYING_MS)
