"""Keeps a handful of programs running, says when one dies, and leaves no process behind.

A plan starts the programs; `run` stops them, stage by stage, on SIGINT, SIGTERM or SIGHUP, or when
one of them died too often. A second Ctrl-C kills at once.
"""

import asyncio
import signal
import time
from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from dashboard.cli.answers import NoAnswer
from dashboard.cli.child import CannotStart, Child, Program
from dashboard.cli.say import say
from dashboard.cli.warden import Warden

STOPPED, FAILED = 0, 1


@dataclass(frozen=True)
class Limits:
    restarts: int = 3
    within_s: float = 60
    pause_s: float = 0.5
    grace_s: float = 10


class Failed(Exception):
    """A program that should run once and succeed has failed."""


Plan = Callable[["Supervisor"], Coroutine[Any, Any, None]]


def run(plan: Plan, limits: Limits | None = None) -> int:
    """Returns the exit code: 0 if we were asked to stop, 1 if a program would not run."""
    warden = Warden()

    async def supervised() -> int:
        return await Supervisor(warden, limits or Limits()).carry_out(plan)

    try:
        return asyncio.run(supervised())
    finally:
        warden.close()


class Supervisor:
    def __init__(self, warden: Warden, limits: Limits) -> None:
        self._warden = warden
        self._limits = limits
        self._children: set[Child] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._spawning: set[asyncio.Task[Child]] = set()
        self._over: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._hurry = asyncio.Event()

    async def start(self, program: Program) -> None:
        """Starts a program and restarts it whenever it dies."""
        self._add(self._keep(await self._spawn(program)))

    async def finish(self, program: Program) -> list[str]:
        """Runs a program to its end and returns the last lines of its output."""
        child = await self._spawn(program)
        code = await child.wait()
        await self._bury(child)
        if code != 0:
            raise Failed(_obituary(child, code))
        return child.last_lines

    async def carry_out(self, plan: Plan) -> int:
        loop = asyncio.get_running_loop()
        # Only a second Ctrl-C kills: closing a terminal sends SIGHUP twice (kernel and shell).
        loop.add_signal_handler(signal.SIGINT, self._interrupt)
        loop.add_signal_handler(signal.SIGTERM, self._stop)
        loop.add_signal_handler(signal.SIGHUP, self._stop)
        self._add(plan(self))
        try:
            return await self._over
        finally:
            await self._end_all()

    def _stop(self) -> None:
        if not self._over.done():
            say("stopping")
            self._over.set_result(STOPPED)

    def _interrupt(self) -> None:
        if self._over.done():
            self._hurry.set()
        self._stop()

    def _add(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if task.cancelled() or (error := task.exception()) is None or self._over.done():
            return
        if isinstance(error, (Failed, CannotStart, NoAnswer)):
            say(str(error))
            self._over.set_result(FAILED)
        else:
            self._over.set_exception(error)

    async def _spawn(self, program: Program) -> Child:
        # Shielded: a task cancelled during the start would lose a child that we do not know yet.
        spawning = asyncio.create_task(self._adopt(program))
        self._spawning.add(spawning)
        spawning.add_done_callback(self._spawning.discard)
        return await asyncio.shield(spawning)

    async def _adopt(self, program: Program) -> Child:
        child = await Child.spawn(program)
        self._warden.guard(child.session)
        self._children.add(child)
        return child

    async def _keep(self, child: Child) -> None:
        deaths: deque[float] = deque()
        program = child.program
        while True:
            code = await child.wait()
            now_s = time.monotonic()
            deaths.append(now_s)
            while now_s - deaths[0] > self._limits.within_s:
                deaths.popleft()
            await self._bury(child)
            if len(deaths) > self._limits.restarts:
                raise Failed(
                    f"{_obituary(child, code)}\n"
                    f"curtail: {program.name} died {len(deaths)} times within "
                    f"{self._limits.within_s:.0f} s; everything stops"
                )
            say(_obituary(child, code))
            say(f"{program.name} starts again ({len(deaths)} of {self._limits.restarts})")
            await asyncio.sleep(self._limits.pause_s)
            child = await self._spawn(program)

    async def _bury(self, child: Child) -> None:
        """Ends what a dead program left running, so that a restart finds its ports free."""
        await child.end(self._limits.grace_s, self._hurry)
        self._warden.release(child.session)
        self._children.remove(child)

    async def _end_all(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, *self._spawning, return_exceptions=True)
        for stage in sorted({child.program.stage for child in self._children}, reverse=True):
            last = [child for child in self._children if child.program.stage == stage]
            await asyncio.gather(*map(self._bury, last))


def _obituary(child: Child, code: int) -> str:
    how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
    lines = [f"    {line}" for line in child.last_lines]
    if not lines:
        return f"{child.program.name} {how} without a word"
    return "\n".join([f"{child.program.name} {how}; its last lines:", *lines])
