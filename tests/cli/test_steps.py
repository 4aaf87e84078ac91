"""One program after another: its code, and that it ends with the one who runs it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dashboard.cli.root import ROOT
from dashboard.cli.steps import Step, run
from tests.waiting import until


def python(name: str, code: str, **env: str) -> Step:
    return Step(name, (sys.executable, "-c", code), env)


def test_a_step_has_its_code_and_its_own_environment(capfd: pytest.CaptureFixture[str]) -> None:
    ask = "import os, sys; sys.exit(int(os.environ['CODE']))"
    assert run(python("one", ask, CODE="0"), os.environ).code == 0
    assert run(python("other", ask, CODE="3"), os.environ).code == 3
    said = capfd.readouterr().out
    assert "== one                  ok, " in said
    assert "== other                FAILED with code 3, " in said


def test_it_is_asked_to_stop_when_the_one_who_runs_it_is(tmp_path: Path) -> None:
    """SIGTERM, as CI sends it: fixtures of tests clean up only if pytest hears of it."""
    waiting = (
        "import pathlib, sys, time\n"
        "here = pathlib.Path(sys.argv[1])\n"
        "try:\n    here.with_suffix('.up').touch()\n    time.sleep(600)\n"
        "except KeyboardInterrupt:\n    here.with_suffix('.asked').touch()\n"
    )
    here = tmp_path / "step"
    program = (
        "import os, signal, sys\n"
        "from dashboard.cli.steps import Step, run\n"
        "def stop(*_): raise SystemExit(1)\n"
        "signal.signal(signal.SIGTERM, stop)\n"
        f"run(Step('waits', (sys.executable, '-c', {waiting!r}, {str(here)!r})), os.environ)\n"
    )
    runner = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT)
    until(here.with_suffix(".up").exists)
    runner.send_signal(signal.SIGTERM)
    assert runner.wait(60) == 1
    assert here.with_suffix(".asked").exists()
