"""Rate limits: counts in fixed windows of time, shared by all server processes through Redis.

While Redis is away each process counts for itself: nobody is locked out by that, and guessing
passwords is still limited.
"""

import hashlib
import ipaddress
import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from asgiref.sync import async_to_sync
from django.http import HttpRequest

from dashboard.store import StoreUnavailable, the_store
from dashboard.store.counters import Counters

# IPv6 clients are counted by network: a subscriber has at least this many addresses.
IPV6_NETWORK = 64


@dataclass(frozen=True)
class Limit:
    name: str
    most: int
    window_s: int


@dataclass(frozen=True)
class Use:
    """One use of a limited operation, and the subject for which it is counted."""

    limit: Limit
    subject: str


LOGIN_ACCOUNT = Limit("login-account", most=10, window_s=300)
LOGIN_ADDRESS = Limit("login-address", most=50, window_s=300)
TOKEN_USES = Limit("token", most=600, window_s=60)
TOKEN_ADDRESS = Limit("token-address", most=1_200, window_s=60)
TOKEN_FAILURES = Limit("token-failures", most=20, window_s=60)
# Each of these sends a request to another party's server.
WEBHOOK_SENDS = Limit("webhook-sends", most=60, window_s=60)


class LimitReached(Exception):
    def __init__(self, use: Use, retry_after_s: int, first: bool) -> None:
        super().__init__(f"{use.limit.name}: more than {use.limit.most} in {use.limit.window_s} s")
        self.retry_after_s = retry_after_s
        self.first = first  # whether this is the first use over the limit in its window


_while_away = Counters()


def count(*uses: Use, clock: Callable[[], float] = time.time) -> None:
    """Counts before checking the limit, so that simultaneous requests cannot all pass."""
    now_s = clock()
    for use, counted in zip(uses, _add(uses, 1, now_s), strict=True):
        limit = use.limit
        if counted > limit.most:
            left_s = limit.window_s - now_s % limit.window_s
            raise LimitReached(use, max(1, math.ceil(left_s)), counted == limit.most + 1)


def give_back(*uses: Use, clock: Callable[[], float] = time.time) -> None:
    """Takes counted uses back, after a correct password for instance."""
    _add(uses, -1, clock())


def address_of(request: HttpRequest) -> str:
    """The client's address as the ASGI server reports it; for IPv6 its network."""
    text: str = request.META.get("REMOTE_ADDR") or ""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return text
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped:
            return str(address.ipv4_mapped)
        return str(ipaddress.ip_network((address, IPV6_NETWORK), strict=False))
    return str(address)


def _add(uses: tuple[Use, ...], by: int, now_s: float) -> list[int]:
    names = [_name(use, now_s) for use in uses]
    longest_s = max(use.limit.window_s for use in uses)
    try:
        return list(async_to_sync(the_store().count)(names, by, longest_s))
    except StoreUnavailable:
        return _while_away.add(names, by)


def _name(use: Use, now_s: float) -> str:
    # A subject may be any typed text: its hash is short and contains no separator.
    subject = hashlib.sha256(use.subject.encode(errors="replace")).hexdigest()[:32]
    return f"{use.limit.name}:{subject}:{int(now_s // use.limit.window_s)}"
