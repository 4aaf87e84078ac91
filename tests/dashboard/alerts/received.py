"""The receiver's process, from the side of a test."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path
from typing import Any

from dashboard.cli.child import Program
from dashboard.testing.running import Running

LOOPBACK = (ip_network("127.0.0.0/8"),)


@dataclass(frozen=True)
class Received:
    folder: Path
    port: int

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}/{path}"

    def knows(self, *secrets: str) -> None:
        (self.folder / "secrets").write_text("\n".join(secrets))

    def release(self) -> None:
        (self.folder / "released").touch()

    def forget(self) -> None:
        for name in ("seen", "secrets", "released"):
            (self.folder / name).unlink(missing_ok=True)

    @property
    def seen(self) -> list[dict[str, Any]]:
        file = self.folder / "seen"
        # A line without its end is still being written.
        lines = file.read_text().splitlines(keepends=True) if file.exists() else []
        return [json.loads(line) for line in lines if line.endswith("\n")]

    @property
    def ids(self) -> list[str]:
        return [each["headers"]["webhook-id"] for each in self.seen]


@contextmanager
def receiving(folder: Path) -> Iterator[Received]:
    argv = (sys.executable, "-m", "tests.dashboard.alerts.receiver", str(folder))
    with Running(Program("receiver", argv, os.environ, folder / "log")) as process:
        process.wait_until((folder / "port").exists)
        yield Received(folder, int((folder / "port").read_text()))
