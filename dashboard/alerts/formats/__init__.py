"""One file per format, each with `body(notice)`: a new one starts as a copy of another.

Every format is pure: the same notice gives the same body, so that a message that is sent again is
the same message.
"""

import json
from collections.abc import Callable
from enum import StrEnum
from typing import Any

from dashboard.alerts.events import Notice
from dashboard.alerts.formats import alertmanager, pagerduty, slack, standard


class Format(StrEnum):
    STANDARD = "standard"
    ALERTMANAGER = "alertmanager"
    SLACK = "slack"
    PAGERDUTY = "pagerduty"


_BODIES: dict[Format, Callable[[Notice], dict[str, Any]]] = {
    Format.STANDARD: standard.body,
    Format.ALERTMANAGER: alertmanager.body,
    Format.SLACK: slack.body,
    Format.PAGERDUTY: pagerduty.body,
}


def encoded(wanted: Format, notice: Notice) -> bytes:
    return json.dumps(_BODIES[wanted](notice), separators=(",", ":"), ensure_ascii=False).encode()
