"""How the front door speaks: one calm line at a time, on stderr."""

import sys
from contextlib import suppress


def say(line: str) -> None:
    # A terminal that has gone away must not keep us from stopping what we started.
    with suppress(OSError, ValueError):
        print(f"curtail: {line}", file=sys.stderr, flush=True)
