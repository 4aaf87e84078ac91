"""The supervisor of one pool: starts and retires its instances, replaces dead ones, tidies up.

No chunk goes through it; what it computes for the running pool is in `steering`. It is a process of
its own session, so that it outlives the Spark Python worker which started it, and it ends when none
of its owners lives any more, or the pool was idle for a while. Instances are forked from it, so
they need not import Arrow again: a dead one is replaced within milliseconds plus what its operator
needs to load. It has no threads of its own and never loads an operator itself, because neither
threads nor an operator's state survive a fork.

    python -m techniques.pool.host.supervisor FOLDER MEETING_PLACE
"""

import os
import pickle
import signal
import sys
import time
import traceback
from contextlib import suppress
from pathlib import Path

import pyarrow as pa

from techniques.pool import instance
from techniques.pool.host.identity import Process
from techniques.pool.host.logs import say
from techniques.pool.host.meeting_place import (
    Meeting,
    owners_live,
    remove,
    result_path,
    ring_path,
    shared_path,
    start_failure_path,
)
from techniques.pool.host.roster import Roster
from techniques.pool.host.steering import Signals, Timeouts, publish_weights
from techniques.pool.messages import spill_prefix
from techniques.pool.osrbuffer.ring import Ring
from techniques.pool.page import BEGUN, DEAD, ENDING, RUNNING, Page
from techniques.pool.page_words import HeaderWord, InstanceWord, SlotWord
from techniques.pool.plan import Plan
from techniques.pool.policies import number_of
from techniques.pool.shared_queue import SharedQueue

TICK_S = 0.025
ROUND_S = 0.25
PATIENCE_S = 1.0
FIRST_WAIT_S = 0.1
LONGEST_WAIT_S = 5.0
ENDING_SIGNALS = (signal.SIGTERM, signal.SIGINT)
AWAITED = (signal.SIGCHLD, *ENDING_SIGNALS)
LEFT_BY_INSTANCES = (InstanceWord.WORKS_FOR, InstanceWord.BUSY_SINCE, InstanceWord.PARKED)


class Supervisor:
    def __init__(self, where: str, plan: Plan, ring_bytes: int) -> None:
        self._where = where
        self._plan = plan
        self._ring_bytes = ring_bytes
        self._page = Page.create(os.path.join(where, "page"), plan, ring_bytes)
        self._rings: dict[int, Ring] = {}
        self._pids: dict[int, int] = {}
        # Instance → when to start it again; it failed to come up and would only die again now.
        self._waiting: dict[int, float] = {}
        words = self._page.words
        words[HeaderWord.SUPERVISOR], words[HeaderWord.STARTED] = Process.this()
        words[HeaderWord.BEAT] = words[HeaderWord.LAST_USE] = time.monotonic_ns()
        self._page.steer(number_of(plan.policy))
        self._timeouts, self._signals = Timeouts(self._page), Signals(self._page)
        self._roster = Roster(self._page)
        self._shared: list[SharedQueue] = []
        for position in range(len(plan.stages)):
            SharedQueue.create(shared_path(where, position), ring_bytes)
            self._shared.append(SharedQueue(shared_path(where, position)))
            for number in self._page.operator(position):
                words[self._page.instance(number, InstanceWord.OPERATOR)] = position

    def run(self) -> str:
        """Supervises until the pool ends; returns the reason."""
        self._start_wanted()
        self._page.words[HeaderWord.STATE] = RUNNING
        looked_s = time.monotonic()
        while True:
            found = signal.sigtimedwait(AWAITED, self._signals.wait_s(TICK_S))
            # Stopped and continued, the wait may end with a signal 0, which nobody sent.
            if found is not None and found.si_signo in ENDING_SIGNALS:
                return f"asked to by {signal.Signals(found.si_signo).name}"
            self._bury()
            self._start_wanted()
            now_s = time.monotonic()
            self._page.words[HeaderWord.BEAT] = time.monotonic_ns()
            self._signals.look(now_s)
            self._timeouts.look(now_s)
            for number, ring in self._rings.items():
                self._page.words[self._page.instance(number, InstanceWord.QUEUED)] = ring.depth()
            for position, shared in enumerate(self._shared):
                self._page.words[self._page.shared_queued(position)] = shared.depth()
            for number in [one for one, when in self._waiting.items() if when <= now_s]:
                del self._waiting[number]
                if self._roster.serves(number):
                    self._start(number)
            if now_s - looked_s >= ROUND_S:
                looked_s = now_s
                publish_weights(self._page)
                self._free_slots()
                if not owners_live(self._where):
                    return "nobody it works for lives any more"
                if (
                    time.monotonic_ns() - self._page.words[HeaderWord.LAST_USE]
                    > self._plan.idle_s * 1e9
                ):
                    return f"not used for {self._plan.idle_s:g} s"

    def end(self) -> None:
        self._page.words[HeaderWord.STATE] = ENDING
        for wanted in (signal.SIGTERM, signal.SIGKILL):
            for pid in self._pids.values():
                with suppress(ProcessLookupError):
                    os.kill(pid, wanted)
            deadline_s = time.monotonic() + PATIENCE_S
            while self._pids and time.monotonic() < deadline_s:
                signal.sigtimedwait([signal.SIGCHLD], 0.02)
                for number, pid in list(self._pids.items()):
                    if os.waitpid(pid, os.WNOHANG)[0]:
                        del self._pids[number]

    def _start_wanted(self) -> None:
        for number in self._roster.look(self._pids.keys() | self._waiting.keys()):
            self._start(number)

    def _start(self, number: int) -> None:
        """Starts an instance with a new ring; chunks in its old ring are handed out again."""
        words, at = self._page.words, self._page.instance(number)
        incarnation = words[at + InstanceWord.INCARNATION] + 1
        self._rings[number] = Ring.create(
            ring_path(self._where, number, incarnation), self._ring_bytes
        )
        words[at + InstanceWord.INCARNATION] = incarnation
        words[at + InstanceWord.STATE] = BEGUN
        pid = os.fork()
        if pid == 0:
            _become(self._where, self._plan, self._page, number)
        words[at + InstanceWord.PID] = pid
        self._pids[number] = pid

    def _bury(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            for number in [one for one, own in self._pids.items() if own == pid]:
                code = os.waitstatus_to_exitcode(status)
                is_done = code == instance.DONE and self._roster.finishes(number)
                never_ready = self._forget(number, is_done)
                how = f"signal {-code}" if code < 0 else f"exit status {code}"
                if self._roster.serves(number):
                    self._say(number, f"instance (pid {pid}) ended with {how}; it is replaced")
                    self._replace(number, code, how, never_ready)
                else:
                    self._say(number, f"instance (pid {pid}) is retired, with {how}")

    def _forget(self, number: int, is_done: bool) -> bool:
        """Closes what an ended instance had; returns whether it never came up. Tasks send again
        what they had sent to it, unless it `is_done` and left nothing."""
        words, at = self._page.words, self._page.instance(number)
        never_ready = words[at + InstanceWord.STATE] == BEGUN
        words[at + InstanceWord.STATE] = DEAD
        if not never_ready and not is_done:
            words[at + InstanceWord.DIED_SLOT] = words[at + InstanceWord.WORKS_FOR]
            words[at + InstanceWord.DIED_CHUNK] = words[at + InstanceWord.WORKS_ON]
            # Last, because tasks look at the other two when they see that this one has changed.
            words[at + InstanceWord.DIED] = words[at + InstanceWord.INCARNATION]
        for word in (*LEFT_BY_INSTANCES, InstanceWord.QUEUED):
            words[at + word] = 0
        weights_at = self._page.weights_of_instance(number)
        for one in range(self._page.instances):
            words[weights_at + one] = 0
        del self._pids[number]
        ring = self._rings.pop(number)
        ring.close()
        ring.unlink()
        return never_ready

    def _replace(self, number: int, code: int, how: str, never_ready: bool) -> None:
        words, at = self._page.words, self._page.instance(number)
        words[HeaderWord.REPLACED] += 1
        if not never_ready:
            words[at + InstanceWord.START_FAILURES] = 0
            start_failure_path(self._where, number).unlink(missing_ok=True)
            self._start(number)
            return
        path = start_failure_path(self._where, number)
        if code != instance.NOT_LOADED:
            path.write_text(f"it ended with {how} while its operator was loaded\n")
        words[at + InstanceWord.START_FAILURES] += 1
        wait_s = min(
            LONGEST_WAIT_S, FIRST_WAIT_S * 2 ** min(10, words[at + InstanceWord.START_FAILURES])
        )
        self._waiting[number] = time.monotonic() + wait_s

    def _say(self, number: int, text: str) -> None:
        say(f"{self._plan.name}/{self._plan.instance_name(number)}", text)

    def _free_slots(self) -> None:
        """Frees the slots of killed tasks and removes their files."""
        for slot in self._page.holders():
            if not self._page.holder(slot).lives():
                at = self._page.slot(slot)
                generation = self._page.words[at + SlotWord.GENERATION]
                self._page.words[at + SlotWord.CHUNKS] = self._page.words[at + SlotWord.BYTES] = 0
                self._page.words[at + SlotWord.PID] = 0
                ring = result_path(self._where, slot, generation)
                for left in (Path(ring), Path(f"{ring}.bell")):
                    left.unlink(missing_ok=True)
                for left in Path(self._where).glob(f"{spill_prefix(slot, generation)}*"):
                    left.unlink(missing_ok=True)


def _become(where: str, plan: Plan, page: Page, number: int) -> None:
    """Runs in the forked child; never returns to the supervisor's code."""
    code = 1
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, AWAITED)
        code = instance.run(where, plan, page, number)
    except BaseException:
        say(f"{plan.name}/{plan.instance_name(number)}", traceback.format_exc())
    finally:
        with suppress(BaseException):
            sys.stdout.flush()
        os._exit(code)


def main(argv: list[str]) -> int:
    where, meeting_place = argv
    signal.pthread_sigmask(signal.SIG_BLOCK, AWAITED)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    own = Process.this()
    Path(where, "supervisor").write_text(f"{own.pid} {own.started}")
    plan, ring_bytes = pickle.loads(Path(where, "plan").read_bytes())
    # Arrow looks for pandas when it first converts a value: do that once here, not per instance.
    pa.array([1]).to_pylist()
    supervisor: Supervisor | None = None
    try:
        supervisor = Supervisor(where, plan, ring_bytes)
        why = supervisor.run()
    except Exception:
        why = traceback.format_exc()
    if supervisor is not None:
        supervisor.end()
    say(plan.name, f"the pool ends: {why}")
    Meeting(Path(meeting_place)).forget(where)
    remove(where)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
