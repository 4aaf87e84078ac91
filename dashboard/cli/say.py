"""Prints the messages of `./curtail`, one line each, on stderr."""

import sys
from contextlib import suppress


def say(line: str) -> None:
    # A closed terminal must not prevent us from stopping the programs that we started.
    with suppress(OSError, ValueError):
        print(f"curtail: {line}", file=sys.stderr, flush=True)
