"""Checks that Redis and the database can be reached, before anything is started."""

import os
import re

from dashboard.masking import masked

CONNECT_S = 5
_REDIS_PREFIX = re.compile(r"^Error -?\d+ (connecting|while \w+) to \S+ ")


class Unreachable(Exception):
    """One line that names the variable, the address and the reason."""


def redis(url: str) -> None:
    from redis import Redis, RedisError

    try:
        with Redis.from_url(
            url, socket_connect_timeout=CONNECT_S, socket_timeout=CONNECT_S
        ) as client:
            client.ping()
    except (RedisError, OSError, ValueError) as error:
        raise _unreachable("REDIS_URL", url, error) from error


def database(url: str) -> None:
    """Connects as Django will, through `dashboard.settings`."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
    os.environ.setdefault("PGCONNECT_TIMEOUT", str(CONNECT_S))
    from django.db import DatabaseError, connection

    try:
        connection.ensure_connection()
    except (DatabaseError, OSError, ValueError) as error:
        raise _unreachable("DATABASE_URL", url, error) from error
    finally:
        connection.close()


def _unreachable(variable: str, url: str, error: Exception) -> Unreachable:
    reason = _REDIS_PREFIX.sub("", str(error).strip().partition("\n")[0]).rstrip(". ")
    return Unreachable(masked(f"{variable}: cannot reach {url}: {reason or type(error).__name__}"))
