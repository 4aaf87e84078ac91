"""Epoch milliseconds as the text that other systems read."""

from datetime import UTC, datetime


def rfc3339(at_ms: int) -> str:
    """1_700_000_000_123 → "2023-11-14T22:13:20.123Z" """
    moment = datetime.fromtimestamp(at_ms // 1000, UTC).replace(microsecond=at_ms % 1000 * 1000)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
