"""How the front door speaks: one calm line at a time, on stderr, with no secret in it."""

import re
import sys
from contextlib import suppress

_USER_INFO = re.compile(r"(://[^:/@\s]*:)\S*@")
_QUERY = re.compile(r"([?&]password=)[^&\s'\"]*")


def say(line: str) -> None:
    # A terminal that has gone away must not keep us from stopping what we started.
    with suppress(OSError, ValueError):
        print(f"curtail: {line}", file=sys.stderr, flush=True)


def masked(text: str) -> str:
    """The text without the passwords of the addresses in it."""
    return _QUERY.sub(r"\1***", _USER_INFO.sub(r"\1***@", text))
