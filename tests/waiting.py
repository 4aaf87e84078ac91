"""Wait for a condition, never for luck: a test that sleeps is either slow or flaky."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def until(condition: Callable[[], T], timeout_s: float = 30, every_s: float = 0.02) -> T:
    """The first truthy value of `condition`; an AssertionError once the deadline has passed."""
    deadline = time.monotonic() + timeout_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() >= deadline:
            raise AssertionError(f"still {value!r} after {timeout_s} s")
        time.sleep(every_s)
