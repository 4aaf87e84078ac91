"""Times as people write them: an ISO date or time, "7d ago" or "now"."""

import re
from datetime import UTC, datetime

UNITS_MS = {"m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_AGO = re.compile(r"(\d{1,5})\s*([mhdw])(\s+ago)?")


class NoTime(ValueError):
    """The text is no time that can be understood."""


def parse_ms(text: str, now_ms: int) -> int:
    """Epoch ms; a time without a zone is in UTC."""
    text = text.strip()
    if text == "now":
        return now_ms
    if ago := _AGO.fullmatch(text):
        return max(0, now_ms - int(ago[1]) * UNITS_MS[ago[2]])
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return max(0, round(moment.timestamp() * 1000))
    except (ValueError, OverflowError):
        raise NoTime(
            f"{text!r} is no time; write 2026-11-01, 2026-11-01T10:00+01:00, 7d ago, 12h ago or now"
        ) from None


def iso(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M")
