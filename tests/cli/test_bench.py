import json
import sys
from pathlib import Path

import pytest

from dashboard.cli import bench

MODULE = """
SUMMARY: str = "how long a thing takes"
print("imported")

def run(quick):
    print("on my way")
    return {"quick": quick, "took_ms": 3}

def table(result):
    return f"took {result['took_ms']} ms"
"""


@pytest.fixture(autouse=True)
def benchmarks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "benchmarks"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "thing_speed.py").write_text(MODULE)
    (folder / "helpers.py").write_text("ANSWER = 42\n")
    monkeypatch.setattr(bench, "ROOT", tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.partition(".")[0] == "benchmarks"]:
        monkeypatch.delitem(sys.modules, name)
    return folder


def test_without_a_name_it_lists_them_and_runs_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.run([]) == 0
    assert capsys.readouterr().out == "thing_speed  how long a thing takes\n"


def test_without_a_name_json_lists_them_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.run(["--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"thing_speed": "how long a thing takes"}


def test_a_result_is_shown_as_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.run(["thing-speed"]) == 0
    said = capsys.readouterr()
    assert said.out == "took 3 ms\n"
    assert "on my way" in said.err


def test_json_is_the_only_line_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.run(["thing_speed", "--quick", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"quick": True, "took_ms": 3}


@pytest.mark.parametrize("name", ["nothing", "helpers", "__init__", "../secret"])
def test_an_unknown_name_is_refused_with_the_known_ones(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench.run([name]) == 2
    assert "there are thing_speed\n" in capsys.readouterr().err
