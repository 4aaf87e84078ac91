"""Limits of the operating system, for tests of what happens when they are met."""

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def largest_file(size_bytes: int) -> Iterator[None]:
    """Lets this process write no file beyond so many bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    # Without a handler the signal ends the process; ignored, the write fails as on a full disk.
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
