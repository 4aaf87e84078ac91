"""How large a ring should be, and where there is room for it."""

import logging
import os
import shutil
from collections.abc import Sequence

from techniques.pool.osrbuffer.layout import HEAD_BYTES, PAGE_BYTES, SMALLEST_UNIT_BYTES

_log = logging.getLogger(__name__)

# TurboStream, section VI: latency is best with a buffer of 50 to 100 messages. Fewer, and producers
# wait for room; more, and the bytes no longer stay in the processor's caches.
MESSAGES = 64
SHARED_MEMORY = "/dev/shm"
# Others need /dev/shm as well; if it is full, a process that writes to it is killed (SIGBUS).
SHARE_OF_FREE = 0.5


def capacity_bytes(message_bytes: int) -> int:
    """Returns a capacity for 50 to 100 messages of this size."""
    if message_bytes < 0:
        raise ValueError(f"messages of {message_bytes} bytes?")
    whole = HEAD_BYTES + message_bytes
    rounded = -(-whole // SMALLEST_UNIT_BYTES) * SMALLEST_UNIT_BYTES
    return MESSAGES * rounded


def folder(wanted_bytes: int, local_dirs: Sequence[str]) -> str:
    """Returns a folder with room for `wanted_bytes`: shared memory, or else a local folder."""
    wanted_bytes += PAGE_BYTES
    free = _free_bytes(SHARED_MEMORY)
    if wanted_bytes <= free * SHARE_OF_FREE:
        return SHARED_MEMORY
    for each in local_dirs:
        if wanted_bytes <= _free_bytes(each) * SHARE_OF_FREE:
            _log.warning(
                "%s has %.1f MB free and %.1f MB are wanted: the ring is a mapped file in %s",
                SHARED_MEMORY,
                free / 1e6,
                wanted_bytes / 1e6,
                each,
            )
            return each
    places = ", ".join([SHARED_MEMORY, *local_dirs])
    raise OSError(f"no room for {wanted_bytes / 1e6:.1f} MB in any of {places}")


def _free_bytes(path: str) -> int:
    if not os.access(path, os.W_OK | os.X_OK):
        return 0
    return shutil.disk_usage(path).free
