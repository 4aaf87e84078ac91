"""The collector's main loop, on one thread: reads the driver's messages and closes windows.

Every wake-up of an idle Python process costs more than the work it finds: caches are cold, and a
second thread would wait for the first one's lock. So windows are closed two at a time, when the
first message arrives after they are due (usually the next window's part). If no message arrives, a
timeout closes them a little later.
"""

import os
import select
from collections.abc import Callable

from collectors.formats.wire import WINDOW_MS
from collectors.process.link import Inbox, Message

TICK_MS = 2 * WINDOW_MS
# How long after a window's end its part may be on its way before we stop waiting for it.
PATIENCE_MS = 80
AT_ONCE_BYTES = 1 << 16


def serve(
    fd: int, handle: Callable[[Message], None], tick: Callable[[], None], now_ms: Callable[[], int]
) -> None:
    """Handles messages and calls `tick` when due; returns when the pipe is closed."""
    inbox = Inbox()
    ticked = now_ms() // TICK_MS
    while True:
        due_ms = (ticked + 1) * TICK_MS + PATIENCE_MS
        # The wall clock may be set back: never wait for longer than a tick takes.
        wait_ms = min(max(0, due_ms - now_ms()), TICK_MS + PATIENCE_MS)
        readable, _, _ = select.select([fd], [], [], wait_ms / 1000)
        if readable:
            data = os.read(fd, AT_ONCE_BYTES)
            if not data:
                return
            for message in inbox.messages(data):
                handle(message)
        now = now_ms() // TICK_MS
        if now != ticked:
            ticked = now
            tick()
