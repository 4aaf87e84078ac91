"""Programs that run together: what each says is whole, and all end with the one who asked."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dashboard.cli.root import ROOT
from dashboard.cli.steps import Step, run, together
from tests.waiting import until


def python(name: str, code: str, **env: str) -> Step:
    return Step(name, (sys.executable, "-c", code), env)


def test_each_has_its_code_and_its_own_environment() -> None:
    ask = "import os, sys; sys.exit(int(os.environ['CODE']))"
    found = together([python("one", ask, CODE="0"), python("other", ask, CODE="3")], os.environ)
    assert [(each.step.name, each.code) for each in found] == [("one", 0), ("other", 3)]
    assert str(found[1]).startswith("other ")
    assert "FAILED with code 3" in str(found[1])


def test_what_the_others_say_is_shown_whole_when_they_are_done(
    capfd: pytest.CaptureFixture[str],
) -> None:
    slowly = "import time\nfor at in range(20): print('row', at, flush=True); time.sleep(0.01)"
    together([python("seen", slowly), python("kept", slowly)], os.environ)
    said = capfd.readouterr().out
    kept = said[said.index("== kept\n") :]
    rows = [line for line in kept.splitlines() if line.startswith("row ")]
    assert rows[:20] == [f"row {at}" for at in range(20)]
    assert said.startswith("\n== seen and kept\n")


def test_a_step_that_says_nothing_is_as_good(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(python("silent", "pass"), os.environ).code == 0
    assert "silent               ok" in capfd.readouterr().out


def test_they_are_asked_to_stop_when_the_one_who_runs_them_is(tmp_path: Path) -> None:
    """SIGTERM, as CI sends it: fixtures of tests clean up only if pytest hears of it."""
    waiting = (
        "import pathlib, sys, time\n"
        "here = pathlib.Path(sys.argv[1])\n"
        "here.with_suffix('.up').touch()\n"
        "try:\n    time.sleep(600)\n"
        "except KeyboardInterrupt:\n    here.with_suffix('.asked').touch()\n"
    )
    names = ("one", "other")
    made = ", ".join(
        f"Step({name!r}, (sys.executable, '-c', {waiting!r}, {str(tmp_path / name)!r}))"
        for name in names
    )
    program = (
        "import os, signal, sys\n"
        "from dashboard.cli.steps import Step, together\n"
        "def stop(*_): raise SystemExit(1)\n"
        "signal.signal(signal.SIGTERM, stop)\n"
        f"together([{made}], os.environ)\n"
    )
    runner = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT)
    until(lambda: all((tmp_path / f"{name}.up").exists() for name in names))
    runner.send_signal(signal.SIGTERM)
    assert runner.wait(60) == 1
    assert all((tmp_path / f"{name}.asked").exists() for name in names)
