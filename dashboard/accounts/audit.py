"""The one way into the audit. Call it in the transaction of the change that it tells of."""

import time
from typing import Any

from dashboard.models import AuditEntry

# Text that was cut says more than a change that failed for want of room.
LONGEST_NAME = 200
LONGEST_REASON = 500


def record(
    who: str,
    action: str,
    subject: str,
    job: str | None = None,
    before: Any = None,
    after: Any = None,
    reason: str = "",
) -> AuditEntry:
    """`action` is noun.verb ("token.made"); before and after are JSON, small, without secrets."""
    return AuditEntry.objects.create(
        at_ms=time.time_ns() // 1_000_000,
        who=who[:LONGEST_NAME],
        action=action,
        subject=subject[:LONGEST_NAME],
        job=job or "",
        before=before,
        after=after,
        reason=reason[:LONGEST_REASON],
    )
