from typing import Annotated, Any

from django.db.models import Q
from django.http import HttpRequest
from ninja import Query, Router, Schema

from dashboard.accounts.roles import Role, caller
from dashboard.api.paging import Cursor, Limit, newest_first
from dashboard.models import AuditEntry

router = Router(tags=["audit"])

Filter = Annotated[str, Query(max_length=200)]


class EntryOut(Schema):
    id: int
    at_ms: int
    who: str
    action: str
    subject: str
    job: str | None
    before: Any
    after: Any
    reason: str


class AuditOut(Schema):
    items: list[EntryOut]
    next: str | None


@router.get("", response=AuditOut, summary="Who changed what, newest first")
def audit(
    request: HttpRequest,
    job: Filter = "",
    action: Filter = "",
    who: Filter = "",
    limit: Limit = 100,
    cursor: Cursor = None,
) -> dict[str, Any]:
    """`action` is one action ("token.made") or a noun for all of its actions ("token"). Only admins
    see changes to people; everybody else sees changes to jobs."""
    entries = AuditEntry.objects.all()
    if not caller(request).role.includes(Role.ADMIN):
        entries = entries.exclude(job="")
    if job:
        entries = entries.filter(job=job)
    if action:
        entries = entries.filter(Q(action=action) | Q(action__startswith=f"{action}."))
    if who:
        # Also finds what the user's tokens did: "nadia (ct_h2d8dk3s…)".
        entries = entries.filter(Q(who=who) | Q(who__startswith=f"{who} ("))
    page = newest_first(entries, cursor, limit)
    return {"items": [_shown(entry) for entry in page.items], "next": page.next}


def _shown(entry: AuditEntry) -> dict[str, Any]:
    return {
        "id": entry.pk,
        "at_ms": entry.at_ms,
        "who": entry.who,
        "action": entry.action,
        "subject": entry.subject,
        "job": entry.job or None,
        "before": entry.before,
        "after": entry.after,
        "reason": entry.reason,
    }
