"""The event loop of a worker process, so that its connection to the store outlives a round.

A connection belongs to the loop that made it: with a loop per call, every call would pay for a new
connection.
"""

import asyncio
from collections.abc import Coroutine
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")


@cache
def _runner() -> asyncio.Runner:
    """Created by the first call of `run`: with Celery, after the fork."""
    return asyncio.Runner()


def run(work: Coroutine[Any, Any, T]) -> T:
    """Runs one coroutine at a time: a worker process has one thread (`--concurrency 1`)."""
    return _runner().run(work)
