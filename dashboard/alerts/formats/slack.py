"""A message for Slack's incoming webhooks: plain text for notifications, blocks for the channel."""

from collections.abc import Iterator, Mapping
from typing import Any

from dashboard.alerts.events import Notice, Severity
from dashboard.alerts.times import rfc3339

# Slack refuses a message with a block that is longer.
LONGEST_HEADER = 150
LONGEST_SECTION = 3_000
LONGEST_FIELD = 2_000
MOST_FIELDS = 10
MARKS = {
    Severity.INFO: ":information_source:",
    Severity.WARNING: ":warning:",
    Severity.CRITICAL: ":rotating_light:",
}
ENDED = ":white_check_mark:"


def body(notice: Notice) -> dict[str, Any]:
    event = notice.event
    mark = ENDED if event.is_ending else MARKS[event.severity]
    blocks: list[dict[str, Any]] = [
        {
            "type": "header",
            "text": {"type": "plain_text", "text": _cut(f"{mark} {event.title}", LONGEST_HEADER)},
        }
    ]
    if event.explanation:
        blocks.append({"type": "section", "text": _text(event.explanation, LONGEST_SECTION)})
    facts = [
        {"type": "mrkdwn", "text": _cut(f"*{_safe(name)}*\n{_safe(str(value))}", LONGEST_FIELD)}
        for name, value in list(_for_people(event.evidence))[:MOST_FIELDS]
    ]
    if facts:
        blocks.append({"type": "section", "fields": facts})
    told = f"{_safe(event.job)} · {event.type} · {event.severity} · {rfc3339(event.at_ms)}"
    if notice.link:
        # We made this URL ourselves; only these characters could end it in Slack's link syntax.
        address = notice.link.replace(">", "%3E").replace("|", "%7C")
        told = f"{told} · <{address}|open in Curtail>"
    blocks.append({"type": "context", "elements": [{"type": "mrkdwn", "text": told}]})
    return {"text": f"{mark} {_safe(event.title)} ({_safe(event.job)})", "blocks": blocks}


def _for_people(evidence: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Leaves out what is not known, and data for programs."""
    return (
        (name, value)
        for name, value in evidence.items()
        if value is not None and not isinstance(value, Mapping)
    )


def _text(text: str, longest: int) -> dict[str, str]:
    return {"type": "mrkdwn", "text": _cut(_safe(text), longest)}


def _safe(text: str) -> str:
    """Escapes Slack's markup: a job's name must not make a link or notify the whole channel."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
