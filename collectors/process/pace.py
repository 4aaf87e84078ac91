"""The collector's two duties on one thread: to read what the driver says, and to close windows.

Every wake-up of an idle Python process costs more than the work it finds: caches are cold, and a
second thread would wait for the first one's lock. So windows are closed two at a time, by the first
message that comes when it is time, which is the next window's part; where none comes, by the clock,
a little later.
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
    """Until the pipe's end."""
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
