"""The noisy neighbour on processes that look like Spark's executors."""

import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchmarks import cpu
from examples import noisy_neighbour
from examples.noisy_neighbour import EXECUTOR, Neighbour, executor_below
from tests.waiting import until

SPIN = "while True: pass"
NEIGHBOUR = (sys.executable, "-m", noisy_neighbour.__name__)


@pytest.fixture
def work_dir(tmp_path: Path) -> Path:
    made = tmp_path / "work-127.0.0.4"
    (made / "app-1" / "0").mkdir(parents=True)
    return made


@contextmanager
def spinning(folder: Path, name: str = EXECUTOR) -> Iterator[int]:
    process = subprocess.Popen([sys.executable, "-c", SPIN, name], cwd=folder)
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()


@contextmanager
def neighbour(*words: str) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([*NEIGHBOUR, *words])
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def stands_still(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def test_only_an_executor_that_works_below_the_folder_is_found(
    work_dir: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "work-127.0.0.3"
    elsewhere.mkdir()
    there = work_dir / "app-1" / "0"
    with spinning(there, "a shell of somebody"), spinning(elsewhere):
        assert executor_below(work_dir) is None
        with spinning(there) as pid:
            until(lambda: executor_below(work_dir) == pid)


def test_an_executor_gets_its_share_of_the_time_and_no_more(work_dir: Path) -> None:
    with (
        spinning(work_dir / "app-1" / "0") as pid,
        neighbour("--work-dir", str(work_dir), "--share", "0.25"),
    ):
        until(lambda: stands_still(pid))
        began_s, used_s = time.monotonic(), cpu.process_s(pid)
        # On a busy machine it gets less than its share, never more.
        until(lambda: cpu.process_s(pid) - used_s > 0.3, timeout_s=60)
        assert cpu.process_s(pid) - used_s <= 0.5 * (time.monotonic() - began_s)


def test_everything_runs_on_after_it_was_told_to_stop(work_dir: Path) -> None:
    with (
        spinning(work_dir / "app-1" / "0") as pid,
        neighbour("--work-dir", str(work_dir), "--share", "0.05", "--period-ms", "200") as process,
    ):
        until(lambda: stands_still(pid))
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == 0
        assert not stands_still(pid)


def test_an_executor_that_was_replaced_is_found_again(work_dir: Path) -> None:
    with neighbour("--work-dir", str(work_dir), "--share", "0.25"):
        for _ in range(2):
            with spinning(work_dir / "app-1" / "0") as pid:
                until(lambda pid=pid: stands_still(pid), timeout_s=30)  # type: ignore[misc]


def test_stalls_hit_one_executor_at_a_time_as_the_seed_says(work_dir: Path, tmp_path: Path) -> None:
    other = tmp_path / "work-127.0.0.3"
    other.mkdir()
    over = threading.Event()
    with spinning(work_dir / "app-1" / "0") as one, spinning(other) as another:
        until(lambda: executor_below(work_dir) == one and executor_below(other) == another)
        stalling = threading.Thread(
            target=Neighbour([work_dir, other], over).stall, args=(0.2, 0.2, 0.1, random.Random(1))
        )
        stalling.start()
        try:
            until(lambda: stands_still(one))
            assert not stands_still(another)
            until(lambda: stands_still(another))
        finally:
            over.set()
            stalling.join()
        assert not stands_still(one)
        assert not stands_still(another)


def test_without_an_executor_it_waits_for_one(work_dir: Path) -> None:
    over = threading.Event()
    waiting = threading.Thread(target=Neighbour([work_dir], over).slow, args=(0.5, 0.04))
    waiting.start()
    over.set()
    waiting.join(timeout=30)
    assert not waiting.is_alive()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "the following arguments are required: --work-dir"),
        ("--work-dir a", "say either --share or --stall-s"),
        ("--work-dir a --share 0.5 --stall-s 1 2", "say either --share or --stall-s"),
        ("--work-dir a --share 0", "'0' is not a number above 0"),
        ("--work-dir a --share 2", "'2' is more than 1"),
        ("--work-dir a --stall-s 2 1", "the least is more than the most"),
        ("--work-dir a --work-dir b --share 0.5", "--share is for one --work-dir"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(
    words: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        noisy_neighbour.checked(noisy_neighbour.arguments(), words.split())
    assert ended.value.code == 2
    assert said in " ".join(capsys.readouterr().err.split())
