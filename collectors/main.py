"""The collector process: a child of the Spark driver, fed on standard input, ended by its end."""

import logging
import os
import signal
import sys
import threading
import time
from typing import BinaryIO

from collectors.collector import Collector
from collectors.link import messages, write
from collectors.shipper import Shipper
from collectors.wire import WINDOW_MS
from techniques.registry import Registry, named

FLUSH_S = 1.5


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def main() -> int:
    logging.basicConfig(format="curtail: %(message)s", level=logging.WARNING)
    # Ctrl-C in the user's terminal reaches us too; the application ends first, and then we do.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    back = _back_to_the_jvm()
    techniques = Registry(named(os.environ.get("CURTAIL_TECHNIQUES", "")))
    try:
        shipper = Shipper(
            os.environ["CURTAIL_REDIS_URL"],
            hear=lambda job_id, document: collector.hear(job_id, document),
        )
    except (KeyError, ValueError) as error:
        print(f"curtail: CURTAIL_REDIS_URL is no Redis address: {error}", file=sys.stderr)
        return 2
    collector = Collector(shipper, now_ms, techniques, tell=lambda words: write(back, words))
    shipper.start()
    ended = threading.Event()
    threading.Thread(target=_keep_time, args=(collector, ended), daemon=True).start()
    for message in messages(sys.stdin.buffer):
        collector.handle(message)
    ended.set()
    # The last windows are still open when the application ends: let them close.
    time.sleep(0.3)
    collector.tick()
    shipper.stop(FLUSH_S)
    return 0


def _back_to_the_jvm() -> BinaryIO:
    """Standard output, kept for ourselves: what anybody else prints goes where errors go."""
    back = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return back


def _keep_time(collector: Collector, ended: threading.Event) -> None:
    while not ended.wait((WINDOW_MS - time.time() * 1000 % WINDOW_MS) / 1000):
        collector.tick()


if __name__ == "__main__":
    raise SystemExit(main())
