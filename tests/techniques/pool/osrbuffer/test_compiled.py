"""Compiled code is made once, kept, and loaded without Numba."""

import logging
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from techniques.pool.osrbuffer import compiled
from tests.techniques.pool.children import ended_by, forked

# `techniques` is found from the repository's root.
ROOT = Path(__file__).parents[4]
ATTACH = """
import sys, time
import numpy, llvmlite.binding
from techniques.pool.osrbuffer import ring
before = time.process_time()
ring.Ring.attach(sys.argv[1])
print(time.process_time() - before, "numba" in sys.modules)
"""


def test_a_fresh_process_attaches_without_numba_in_less_than_half_a_second(tmp_path: Path) -> None:
    from techniques.pool.osrbuffer.ring import Ring

    path = str(tmp_path / "ring")
    Ring.create(path, 100_000).close()
    said = subprocess.run(
        [sys.executable, "-c", ATTACH, path], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    spent_s, with_numba = said.split()
    assert float(spent_s) < 0.5
    assert with_numba == "False"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """When something had to be made; nothing is compiled in these tests."""
    times: list[float] = []

    def make() -> bytes:
        times.append(time.monotonic())
        return b"code"

    monkeypatch.setattr(compiled, "_build", make)
    return times


def test_code_is_kept_in_the_first_folder_that_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: list[float]
) -> None:
    file = tmp_path / "file"
    file.touch()
    folders = [file / "below-a-file", tmp_path / "new", tmp_path / "unused"]
    monkeypatch.setattr(compiled, "_folders", lambda: iter(folders))
    assert compiled.assembly() == "code"
    assert compiled.assembly() == "code"
    assert len(made) == 1
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == ["new"]


def test_where_many_start_at_once_one_compiles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = tmp_path / "made"
    monkeypatch.setattr(compiled, "_folders", lambda: iter([tmp_path]))

    def make() -> bytes:
        with made.open("a") as file:
            file.write("x")
        return b"code"

    monkeypatch.setattr(compiled, "_build", make)
    children = [forked(compiled.assembly) for _ in range(5)]
    assert [ended_by(child) for child in children] == [0] * 5
    assert made.read_text() == "x"


def test_code_that_somebody_else_could_have_written_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: list[float]
) -> None:
    monkeypatch.setattr(compiled, "_folders", lambda: iter([tmp_path]))
    compiled.assembly()
    tmp_path.chmod(0o777)
    compiled.assembly()
    assert len(made) == 2


def test_where_nothing_can_be_kept_it_still_works(
    monkeypatch: pytest.MonkeyPatch, made: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(compiled, "_folders", lambda: iter([Path("/proc/none")]))
    with caplog.at_level(logging.DEBUG):
        assert compiled.assembly() == "code"
    assert "cannot keep compiled code in /proc/none" in caplog.text


def test_the_folder_can_be_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(compiled.CACHE_VARIABLE, str(tmp_path))
    assert next(compiled._folders()) == tmp_path
    monkeypatch.delenv(compiled.CACHE_VARIABLE)
    own = list(compiled._folders())
    assert own[0] == Path(compiled.__file__).parent / "__pycache__"
    assert str(os.getuid()) in own[-1].name
