"""Turns of real processes that commit batches as Spark does, without Spark."""

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks import cpu, turns
from benchmarks.turns import Job, Reading, Turn
from dashboard.cli.child import Program
from dashboard.testing.running import Running

# A job that commits a batch every 20 ms, and has a child that uses CPU, as a JVM would be.
JOB = """
import os, pathlib, subprocess, sys, time
commits = pathlib.Path(sys.argv[1], "commits")
commits.mkdir(parents=True)
spin = f"import os\\nwhile os.getppid() == {os.getpid()}: pass"
child = subprocess.Popen([sys.executable, "-c", spin])
for batch in range(100000):
    time.sleep(0.02)
    (commits / str(batch)).touch()
"""


@pytest.fixture
def jobs(tmp_path: Path) -> Iterator[dict[str, Job]]:
    made: dict[str, Job] = {}
    with turns.ended(made.values()):
        for name in ("a", "b"):
            (tmp_path / name).mkdir()
            argv = (sys.executable, "-c", JOB, str(tmp_path / name))
            running = Running(Program(name, argv, {}, tmp_path / f"{name}.log"))
            made[name] = Job(name, running, tmp_path / name)
        for job in made.values():
            job.wait_for(0)
            job.stop()
        yield made


def test_who_is_stopped_stands_still_with_all_its_processes(jobs: dict[str, Job]) -> None:
    before = jobs["b"].read(), jobs["b"].batch
    jobs["a"].turn(settle=1, batches=10)
    after = jobs["b"].read(), jobs["b"].batch
    # A process stops when it is next on a core, so that a few microseconds may go by.
    assert after[0].whole_s - before[0].whole_s < 0.005
    assert after[1] == before[1]


def test_a_turn_measures_whole_batches_and_the_cpu_of_every_process(jobs: dict[str, Job]) -> None:
    settled = jobs["a"].batch + 2
    turn = jobs["a"].turn(settle=2, batches=10)
    assert turn.after >= settled
    assert turn.batches >= 10
    assert turn.clock_s >= turn.batches * 0.02
    # The child is never idle, but on a busy machine it does not get a core for itself.
    assert turn.cpu_s > 0.1 * turn.clock_s
    assert len(turn.ended.processes_s) == 2


def test_batches_are_found_though_spark_has_deleted_the_first_commits(tmp_path: Path) -> None:
    (tmp_path / "commits").mkdir()
    for name in ("7", "8", ".9.tmp"):
        (tmp_path / "commits" / name).touch()
    argv = (sys.executable, "-c", "import time; time.sleep(60)")
    with Running(Program("job", argv, {}, tmp_path / "log")) as running:
        assert Job("job", running, tmp_path).batch == 8


def test_a_job_that_died_is_said_to_stand_still(jobs: dict[str, Job]) -> None:
    jobs["a"].go_on()
    jobs["a"].running.end()
    with pytest.raises(RuntimeError, match="a stands still"):
        jobs["a"].wait_for(10**6)


def test_none_is_left_behind_not_even_one_that_is_stopped(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    argv = (sys.executable, "-c", JOB, str(tmp_path / "a"))
    job = Job("a", Running(Program("a", argv, {}, tmp_path / "log")), tmp_path / "a")
    with turns.ended([job]):
        job.wait_for(0)
        job.stop()
    assert not job.running.lives


def reading(at_s: float, host_s: float, whole_s: float, jit_s: float) -> Reading:
    threads_s = {"curtail-sampler": whole_s / 100, "C2 CompilerThre": jit_s}
    return Reading(at_s, int(at_s * 1000), host_s, whole_s, jit_s, {7: whole_s / 10}, threads_s)


def test_the_jit_is_not_part_of_what_a_batch_costs() -> None:
    turn = Turn(5, 9, reading(10, 100, 50, 20), reading(14, 108, 56, 22))
    assert turn.batches == 4
    assert turn.clock_s == 4
    assert turn.cpu_s == pytest.approx(4)
    assert turn.others_cores == pytest.approx(0.5)
    assert turn.process_cores(7) == pytest.approx(0.15)
    assert turn.thread_cores("curtail-") == {"curtail-sampler": pytest.approx(0.015)}


def test_cpu_of_a_process_is_that_which_it_used() -> None:
    before_s, own_s = cpu.process_s(os.getpid()), time.process_time()
    while time.process_time() - own_s < 0.05:
        pass
    used_s = cpu.process_s(os.getpid()) - before_s
    assert used_s == pytest.approx(time.process_time() - own_s, abs=0.02)
