"""Health checks for monitoring: /healthz says that the server runs, /readyz that it can work.

Neither asks for a login, and neither says more than which part fails.
"""

import asyncio
from collections.abc import Awaitable

from asgiref.sync import sync_to_async
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse

from dashboard.store import StoreUnavailable, the_store

# A worker's tick comes every second; one that works through a long task may miss some.
BEAT_LASTS_S = 15
ANSWER_WITHIN_S = 3


@login_not_required
async def live(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"status": "ok"})


@login_not_required
async def ready(request: HttpRequest) -> JsonResponse:
    database, beaten = await asyncio.gather(_database(), _in_time(the_store().beaten()))
    checks = {"database": database is True, "redis": beaten is not None, "worker": beaten is True}
    body = {
        "status": _word(all(checks.values())),
        "checks": {name: _word(passed) for name, passed in checks.items()},
    }
    return JsonResponse(body, status=200 if all(checks.values()) else 503)


async def _database() -> bool | None:
    # In a separate thread: a check that hangs must not delay the end of this request.
    return await _in_time(sync_to_async(_select, thread_sensitive=False)())


def _select() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        return True
    except (DatabaseError, OSError):
        return False
    finally:
        connection.close()


async def _in_time(check: Awaitable[bool]) -> bool | None:
    """Returns the result of the check, None if there was no answer."""
    try:
        return await asyncio.wait_for(check, ANSWER_WITHIN_S)
    except (StoreUnavailable, TimeoutError):
        return None


def _word(passed: bool) -> str:
    return "ok" if passed else "failed"
