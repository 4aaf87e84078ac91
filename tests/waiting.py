"""Wait for a condition, never for luck: a test that sleeps is either slow or flaky."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
# What takes a second on a quiet machine takes some where four workers, their JVMs and browsers
# share two cores. To wait longer costs nothing where it passes.
PATIENCE = 4


def until(condition: Callable[[], T], timeout_s: float = 30, every_s: float = 0.02) -> T:
    """The first truthy value of `condition`; an AssertionError where it takes many times
    `timeout_s`, which is ample on a quiet machine."""
    deadline = time.monotonic() + PATIENCE * timeout_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() >= deadline:
            raise AssertionError(f"still {value!r} after {PATIENCE * timeout_s} s")
        time.sleep(every_s)
