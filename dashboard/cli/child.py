"""One running program: in its own Unix session, with the last lines of its output."""

import asyncio
import os
import signal
from asyncio.subprocess import DEVNULL, STDOUT, Process
from collections import deque
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from dashboard.cli import sessions
from dashboard.cli.root import ROOT

RING_LINES = 30
LINE_MAX_BYTES = 8_192
LOG_MAX_BYTES = 5_000_000
# A grandchild of a dead program may hold the pipe open for ever: stop reading after this time.
DRAIN_S = 0.5
POLL_S = 0.05


@dataclass(frozen=True)
class Program:
    """What to run.

    Its output goes to `log`, else to the terminal; the output of a quiet one is dropped. A program
    may need those of earlier stages: stages stop in reverse order, each stage as a whole.
    """

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str]
    log: Path | None = None
    quiet: bool = False
    stage: int = 1


class CannotStart(Exception):
    """The program does not exist or is not executable."""


class Child:
    def __init__(self, program: Program, process: Process, output: asyncio.StreamReader) -> None:
        self.program = program
        self._process = process
        self._ring: deque[str] = deque(maxlen=RING_LINES)
        self._pump = asyncio.create_task(self._read(output))

    @classmethod
    async def spawn(cls, program: Program) -> "Child":
        # Not asyncio's pipe: with it, some versions of `Process.wait` return only when every
        # grandchild has closed it, so a driver's death would go unnoticed while its JVM lives.
        ours, theirs = os.pipe()
        try:
            process = await asyncio.create_subprocess_exec(
                *program.argv,
                cwd=ROOT,
                env=program.env,
                stdin=DEVNULL,
                stdout=theirs,
                stderr=STDOUT,
                # Ctrl-C must reach only the supervisor, which stops the programs in order.
                start_new_session=True,
            )
        except OSError as error:
            os.close(ours)
            raise CannotStart(
                f"{program.name}: cannot start {program.argv[0]}: {error.strerror}"
            ) from error
        finally:
            os.close(theirs)
        output = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(output), os.fdopen(ours, "rb")
        )
        return cls(program, process, output)

    @property
    def session(self) -> int:
        return self._process.pid

    @property
    def last_lines(self) -> list[str]:
        return list(self._ring)

    async def wait(self) -> int:
        """Returns the exit code after all output has been read."""
        code = await self._process.wait()
        await asyncio.wait([self._pump], timeout=DRAIN_S)
        return code

    async def end(self, grace_s: float, hurry: asyncio.Event) -> None:
        """Sends SIGTERM to the leader, then to what outlives it; kills the rest after `grace_s`.

        The leader is first because it stops its own children: a Celery worker finishes its task
        and then ends its pool, while a signal to all would kill the task half-way.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(0 if hurry.is_set() else grace_s):
                if self._process.returncode is None:
                    with suppress(ProcessLookupError):
                        os.kill(self.session, signal.SIGTERM)
                    await _first(self._process.wait(), hurry.wait())
                sessions.send(self.session, signal.SIGTERM)
                # Polling: another process cannot set an asyncio event.
                while sessions.members(self.session) and not hurry.is_set():  # noqa: ASYNC110
                    await asyncio.sleep(POLL_S)
        while sessions.send(self.session, signal.SIGKILL):  # noqa: ASYNC110
            await asyncio.sleep(POLL_S)
        await self.wait()
        self._pump.cancel()

    async def _read(self, output: asyncio.StreamReader) -> None:
        with _Sink(self.program) as sink:
            rest = b""
            while chunk := await output.read(65_536):
                *lines, rest = (rest + chunk).split(b"\n")
                if len(rest) > LINE_MAX_BYTES:
                    lines, rest = [*lines, rest], b""
                for line in lines:
                    self._take(line, sink)
            if rest:
                self._take(rest, sink)

    def _take(self, line: bytes, sink: "_Sink") -> None:
        text = line[:LINE_MAX_BYTES].decode(errors="replace").rstrip()
        self._ring.append(text)
        sink.write(text)


class _Sink:
    """A log file of bounded size (the older half in `<name>.1`), or the terminal."""

    def __init__(self, program: Program) -> None:
        self._mark = None if program.quiet else program.name
        self._path = program.log
        self._file: BinaryIO | None = self._path.open("ab") if self._path else None

    def __enter__(self) -> "_Sink":
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def write(self, text: str) -> None:
        # Keep reading with a full disk or a closed terminal: otherwise the child would block.
        with suppress(OSError, ValueError):
            if self._file is None or self._path is None:
                if self._mark:
                    print(f"{self._mark:<7} {text}", flush=True)
                return
            self._file.write(text.encode() + b"\n")
            self._file.flush()
            if self._file.tell() > LOG_MAX_BYTES:
                self._file.close()
                self._path.replace(self._path.with_name(self._path.name + ".1"))
                self._file = self._path.open("ab")


async def _first(*waits: Coroutine[Any, Any, object]) -> None:
    """Returns when one of them is done and cancels the others."""
    tasks = [asyncio.create_task(wait) for wait in waits]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
