"""When techniques were switched, from the audit: settings themselves only know the last time."""

from collections.abc import Sequence

from dashboard.models import AuditEntry
from techniques.analysis.effects import Switch

ACTION = "technique.switched"


def switches(job_ids: Sequence[str], start_ms: int, end_ms: int) -> dict[str, list[Switch]]:
    """The switches of the range by job; changes of options alone are none."""
    found: dict[str, list[Switch]] = {}
    entries = AuditEntry.objects.filter(
        action=ACTION, job__in=job_ids, at_ms__gte=start_ms, at_ms__lt=end_ms
    ).order_by("at_ms")
    for entry in entries:
        before, after = ((told or {}).get("mode", "off") for told in (entry.before, entry.after))
        if before != after:
            found.setdefault(entry.job, []).append(Switch(entry.subject, entry.at_ms, after))
    return found
