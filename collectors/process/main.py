"""The collector process: a child of the Spark driver, fed on standard input, ended by its end."""

import logging
import os
import signal
import sys
import time
from typing import BinaryIO

from collectors.process import pace
from collectors.process.collector import Collector
from collectors.process.link import write
from collectors.process.shipper import Shipper
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
    pace.serve(sys.stdin.fileno(), collector.handle, collector.tick, now_ms)
    # The last windows are still open when the application ends: let them close.
    time.sleep(0.3)
    collector.tick()
    shipper.stop(FLUSH_S)
    return 0


def _back_to_the_jvm() -> BinaryIO:
    """Returns the pipe to the JVM (standard output); whatever is printed goes to stderr instead."""
    back = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return back


if __name__ == "__main__":
    raise SystemExit(main())
