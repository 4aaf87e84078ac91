"""Who may do what. An operation of the API takes one of the guards as its `auth`:

    @router.put("/{job_id}/slo", auth=operators)

and finds out who called with `caller(request)`. What needs no more than a login needs no guard:
`everybody` is the API's default.
"""

from dashboard.accounts.callers import Caller, caller, guard, guard_in_person
from dashboard.models import Role, role_of

__all__ = [
    "Caller",
    "Role",
    "admins",
    "caller",
    "everybody",
    "everybody_in_person",
    "operators",
    "role_of",
]

everybody = guard(Role.VIEWER)
operators = guard(Role.OPERATOR)
# Not by tokens: neither people nor tokens are managed by a program.
admins = guard_in_person(Role.ADMIN)
everybody_in_person = guard_in_person(Role.VIEWER)
