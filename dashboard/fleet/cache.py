"""A cache of one value for a short time, for many simultaneous requests."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Cached(Generic[T]):
    """Runs at most one `ask` at a time and keeps its answer for `for_s`. For one event loop."""

    def __init__(
        self,
        ask: Callable[[], Awaitable[T]],
        for_s: float,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ask = ask
        self._for_s = for_s
        self._clock_s = clock_s
        self._answers: list[T] = []
        self._until_s = 0.0
        self._forgotten = 0
        # If the request that asks is cancelled, the next one waiting for the lock asks itself.
        self._asking = asyncio.Lock()

    async def get(self) -> T:
        async with self._asking:
            if not self._answers or self._clock_s() >= self._until_s:
                forgotten = self._forgotten
                answer = await self._ask()
                self._answers = [answer]
                # An answer that was requested before `forget` must not be kept after it.
                fresh = forgotten == self._forgotten
                self._until_s = self._clock_s() + self._for_s if fresh else 0.0
            return self._answers[0]

    def forget(self) -> None:
        self._forgotten += 1
        self._until_s = 0.0
