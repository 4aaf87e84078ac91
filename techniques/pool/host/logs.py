"""What an instance prints goes to the executor's stderr, each line with the instance's name."""

import io
import os
from contextlib import suppress

STDERR = 2


def say(name: str, text: str) -> None:
    """Prints a line; never fails, because the executor at the other end may be gone."""
    for line in text.splitlines() or [""]:
        with suppress(OSError):
            os.write(STDERR, f"[{name}] {line}\n".encode(errors="replace"))


class Prefixed(io.TextIOBase):
    """Replaces stdout and stderr; writes whole lines, so lines of two instances never mix."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._begun = ""

    def write(self, text: str) -> int:
        *whole, self._begun = (self._begun + text).split("\n")
        for line in whole:
            say(self._name, line)
        return len(text)

    def flush(self) -> None:
        if self._begun:
            say(self._name, self._begun)
            self._begun = ""

    def fileno(self) -> int:
        return STDERR

    def writable(self) -> bool:
        return True
