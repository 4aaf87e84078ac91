import os
import signal
import subprocess

from dashboard.cli import sessions
from tests.waiting import until


def test_it_finds_every_process_of_a_session_whatever_its_name() -> None:
    # The name a process gives itself appears in /proc/…/stat, in parentheses.
    odd = "printf ') S 1 1 1 (' >/proc/$$/comm; sleep 600 & wait"
    leader = subprocess.Popen(["/bin/bash", "-c", odd], start_new_session=True)
    try:
        until(lambda: len(sessions.members(leader.pid)) == 2)
        found = sessions.members(leader.pid)
        assert leader.pid in found
        assert os.getpid() not in found
    finally:
        sessions.send(leader.pid, signal.SIGKILL)
    leader.wait()
    until(lambda: sessions.members(leader.pid) == [])
