"""Writes audit entries. Call `record` in the same transaction as the change it describes."""

import time
from typing import Any

from dashboard.models import AuditEntry

# Longer texts are cut: an audit entry must not make the change itself fail.
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
