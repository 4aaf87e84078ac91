"""The collector process: a child of the Spark driver, fed on standard input, ended by its end."""

import logging
import os
import signal
import sys
import time

from collectors import pace
from collectors.collector import Collector
from collectors.shipper import Shipper

FLUSH_S = 1.5


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def main() -> int:
    logging.basicConfig(format="curtail: %(message)s", level=logging.WARNING)
    # Ctrl-C in the user's terminal reaches us too; the application ends first, and then we do.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        shipper = Shipper(os.environ["CURTAIL_REDIS_URL"])
    except (KeyError, ValueError) as error:
        print(f"curtail: CURTAIL_REDIS_URL is no Redis address: {error}", file=sys.stderr)
        return 2
    shipper.start()
    collector = Collector(shipper, now_ms)
    pace.serve(sys.stdin.fileno(), collector.handle, collector.tick, now_ms)
    # The last windows are still open when the application ends: let them close.
    time.sleep(0.3)
    collector.tick()
    shipper.stop(FLUSH_S)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
