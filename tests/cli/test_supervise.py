import signal
from collections.abc import Callable

import psutil
import pytest

from tests.cli.conftest import Supervised, alive
from tests.waiting import until

Start = Callable[..., Supervised]

# A shell that says who it is and then waits; `exec` so that the shell's pid is the sleeper's.
SLEEPER = 'echo $$ >>"$FOLDER/{name}"; exec sleep 600'
DEAF = """exec python3 -c '
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
open(os.environ["FOLDER"] + "/deaf", "w").write(str(os.getpid()))
time.sleep(600)'"""
# As PySpark does it: a grandchild in a process group of its own.
FAMILY = """python3 -c '
import os, time
if os.fork() == 0:
    os.setpgid(0, 0)
    open(os.environ["FOLDER"] + "/grandchild", "w").write(str(os.getpid()))
    time.sleep(600)
open(os.environ["FOLDER"] + "/child", "w").write(str(os.getpid()))
time.sleep(600)'; true"""


def sleeper(name: str) -> str:
    return f"{name}={SLEEPER.format(name=name)}"


def test_it_reports_a_death_with_the_last_lines_and_starts_the_program_again(
    supervised: Start,
) -> None:
    dies_once = 'if [ ! -e "$FOLDER/once" ]; then touch "$FOLDER/once"; echo oh dear; exit 7; fi'
    it = supervised(f"flaky={dies_once}; {SLEEPER.format(name='flaky')}")
    pid = it.pid("flaky")
    it.says("flaky starts again (1 of 3)")
    assert "flaky ended with code 7; its last lines:\n    oh dear\n" in it.output
    it.process.terminate()
    assert it.ends() == 0
    assert not alive(pid)


def test_it_names_the_signal_that_killed_a_program(supervised: Start) -> None:
    it = supervised("victim=kill -9 $$", restarts=0)
    assert it.ends() == 1
    assert "victim was killed by SIGKILL without a word" in it.output


def test_it_keeps_only_the_last_thirty_lines_of_a_program(supervised: Start) -> None:
    it = supervised("chatty=seq 1000; printf unfinished; exit 1", restarts=0)
    assert it.ends() == 1
    shown = it.output.partition("its last lines:\n")[2].partition("curtail:")[0].split()
    assert shown == [*map(str, range(972, 1001)), "unfinished"]


def test_it_gives_up_after_the_limit_and_stops_everything_else(supervised: Start) -> None:
    it = supervised(sleeper("steady"), 'hopeless=echo x >>"$FOLDER/tries"; exit 1', restarts=2)
    assert it.ends() == 1
    assert "hopeless died 3 times within 60 s; everything stops" in it.output
    assert len(it.lines("tries")) == 3
    assert not alive(it.pid("steady"))


def test_deaths_that_are_far_apart_do_not_add_up(supervised: Start) -> None:
    it = supervised('mortal=echo x >>"$FOLDER/tries"; exit 1', restarts=1, within_s=0, pause_s=0.05)
    until(lambda: len(it.lines("tries")) > 4)
    it.process.terminate()
    assert it.ends() == 0


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_children_and_grandchildren_and_the_exit_code_is_zero(
    supervised: Start, signum: signal.Signals
) -> None:
    it = supervised(f"family={FAMILY}")
    pids = [it.pid("child"), it.pid("grandchild")]
    it.process.send_signal(signum)
    assert it.ends() == 0
    assert [pid for pid in pids if alive(pid)] == []


WAITER = """trap 'echo {name} >>"$FOLDER/order"; exit' TERM; echo $$ >>"$FOLDER/{name}"
    while :; do sleep 0.02; done"""


def test_stages_stop_in_reverse_even_after_a_restart(supervised: Start) -> None:
    stages = {"redis": 0, "server": 1, "job": 2}
    it = supervised(*(f"{at}{name}={WAITER.format(name=name)}" for name, at in stages.items()))
    for name in stages:
        it.pid(name)
    psutil.Process(it.pid("redis")).kill()
    until(lambda: len(it.lines("redis")) == 2)
    it.process.terminate()
    assert it.ends() == 0
    assert it.lines("order") == ["job", "server", "redis"]


def test_programs_of_one_stage_stop_together(supervised: Start) -> None:
    # Each waits for the other to be asked as well.
    meets = """trap 'touch "$FOLDER/{name}-asked"
        while [ ! -e "$FOLDER/{other}-asked" ]; do sleep 0.02; done; exit' TERM
        echo $$ >"$FOLDER/{name}"; while :; do sleep 0.02; done"""
    it = supervised(
        f"one={meets.format(name='one', other='two')}",
        f"two={meets.format(name='two', other='one')}",
        grace_s=600,
    )
    it.pid("one")
    it.pid("two")
    it.process.terminate()
    assert it.ends() == 0


def test_a_stubborn_program_is_killed_after_the_grace_period(supervised: Start) -> None:
    it = supervised(f"deaf={DEAF}", grace_s=0.3)
    pid = it.pid("deaf")
    it.process.terminate()
    assert it.ends() == 0
    assert not alive(pid)


def test_a_second_interrupt_kills_at_once(supervised: Start) -> None:
    it = supervised(f"deaf={DEAF}", sleeper("last"), grace_s=600)
    pid = it.pid("deaf")
    last = it.pid("last")
    it.process.send_signal(signal.SIGINT)
    until(lambda: not alive(last))  # so the first one has been heard
    it.process.send_signal(signal.SIGINT)
    assert it.ends() == 0
    assert not alive(pid)


def test_a_second_hang_up_stays_patient(supervised: Start) -> None:
    waits = """trap 'touch "$FOLDER/asked"; while [ ! -e "$FOLDER/go" ]; do sleep 0.02; done
        touch "$FOLDER/done"; exit' TERM; touch "$FOLDER/ready"; while :; do sleep 0.02; done"""
    it = supervised(f"tidy={waits}")
    until(lambda: (it.folder / "ready").exists())
    it.process.send_signal(signal.SIGHUP)
    until(lambda: (it.folder / "asked").exists())
    it.process.send_signal(signal.SIGHUP)
    (it.folder / "go").touch()
    assert it.ends() == 0
    assert (it.folder / "done").exists()


def test_what_a_dead_leader_left_behind_is_ended_before_the_restart(supervised: Start) -> None:
    it = supervised(
        """orphaning=sleep 600 & echo $! >>"$FOLDER/orphans"; exec sleep 600""",
    )
    orphan = it.pid("orphans")
    leader = psutil.Process(orphan).parent()
    assert leader is not None
    leader.kill()
    until(lambda: len(it.lines("orphans")) == 2)
    assert not alive(orphan)


def test_killing_the_supervisor_ends_children_and_grandchildren(supervised: Start) -> None:
    it = supervised(f"family={FAMILY}", sleeper("other"))
    pids = [it.pid("child"), it.pid("grandchild"), it.pid("other")]
    it.says("all started")
    it.process.kill()
    until(lambda: not any(alive(pid) for pid in pids))


def test_a_program_that_runs_once_and_fails_stops_the_plan(supervised: Start) -> None:
    it = supervised(sleeper("before"), "migrate!=echo no such table; exit 4", sleeper("after"))
    assert it.ends() == 1
    assert "migrate ended with code 4; its last lines:\n    no such table\n" in it.output
    assert not alive(it.pid("before"))
    assert not (it.folder / "after").exists()


def test_an_interrupt_while_a_program_runs_once_ends_it_too(supervised: Start) -> None:
    it = supervised(f"slow!={SLEEPER.format(name='slow')}")
    pid = it.pid("slow")
    it.process.send_signal(signal.SIGINT)
    assert it.ends() == 0
    assert not alive(pid)
