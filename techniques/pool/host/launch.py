"""Finds the pool of this application on this host, and starts it where there is none."""

import os
import pickle
import subprocess
import sys
import time
import uuid
from contextlib import suppress
from pathlib import Path

from techniques.pool.host.identity import Process, owner
from techniques.pool.host.meeting_place import PREFIX, Meeting, local_dirs, register, sweep
from techniques.pool.osrbuffer import sizing
from techniques.pool.page import RUNNING, Page
from techniques.pool.page_words import HeaderWord
from techniques.pool.plan import Plan

START_S = 120.0
TRIES = 3
POLL_S = 0.005
LEAST_RING_BYTES = 64 * 1024


class PoolUnavailable(Exception):
    """The pool did not come up; Spark may try the task again."""


def joined(application: str, plan: Plan, message_bytes: int) -> tuple[str, Page]:
    """Returns the folder and the page of the pool, which is started if it is not running."""
    meeting = Meeting.of(application, plan.name, plan.digest)
    deadline_s = time.monotonic() + START_S
    for _ in range(TRIES):
        with meeting.locked():
            where = meeting.current() or _begun(meeting, plan, message_bytes)
        # The pool may end while we attach; then its folders disappear.
        with suppress(FileNotFoundError):
            page = _came_up(meeting, where, deadline_s)
            if page is not None:
                return where, page
    raise PoolUnavailable(f"the pool {plan.name} did not come up; the executor's stderr says why")


def ring_bytes_for(plan: Plan, message_bytes: int) -> int:
    """The paper's ring size, limited so that all rings together take half of the memory bound."""
    return max(
        LEAST_RING_BYTES,
        min(sizing.capacity_bytes(message_bytes), plan.memory_bytes // 2 // _rings(plan)),
    )


def _rings(plan: Plan) -> int:
    """One for each instance that there is room for, one that each operator's instances share, one
    for each task."""
    return plan.room + len(plan.stages) + (os.cpu_count() or 1)


def _begun(meeting: Meeting, plan: Plan, message_bytes: int) -> str:
    ring_bytes = ring_bytes_for(plan, message_bytes)
    parent = sizing.folder(ring_bytes * _rings(plan), local_dirs())
    sweep(parent)
    where = os.path.join(parent, f"{PREFIX}{plan.name}-{uuid.uuid4().hex[:12]}")
    os.mkdir(where, 0o700)
    Path(where, "plan").write_bytes(pickle.dumps((plan, ring_bytes)))
    register(where, owner())
    started = subprocess.Popen(
        [sys.executable, "-m", "techniques.pool.host.supervisor", where, str(meeting.folder)],
        # What Spark put on the path of its Python workers is there for the operators, too.
        env={**os.environ, "PYTHONPATH": os.pathsep.join(one for one in sys.path if one)},
        stdin=subprocess.DEVNULL,
        # A Python worker's stdout may be Spark's own line to it; its stderr is the executor's.
        stdout=2,
        start_new_session=True,
    )
    _started.append(started)
    process = Process.of(started.pid)
    if process is None:
        raise PoolUnavailable(f"the supervisor of the pool {plan.name} ended at once")
    meeting.announce(where, process)
    return where


# Kept, because Python warns when it garbage-collects a Popen whose child is still running.
_started: list["subprocess.Popen[bytes]"] = []


def _came_up(meeting: Meeting, where: str, deadline_s: float) -> Page | None:
    """Waits for the pool's page; None if this generation is ending, so the next is to be used."""
    path = os.path.join(where, "page")
    while time.monotonic() < deadline_s:
        for child in _started:
            child.poll()
        if meeting.current() != where:
            return None
        if os.path.exists(path):
            page = Page.attach(path)
            if page.words[HeaderWord.STATE] == RUNNING:
                register(where, owner())
                page.words[HeaderWord.LAST_USE] = time.monotonic_ns()
                return page
            page.close()
        time.sleep(POLL_S)
    return None
