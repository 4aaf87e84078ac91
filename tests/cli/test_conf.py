import os
import shlex
import subprocess
import sys
from pathlib import Path

from dashboard.cli.root import ROOT

# Prints what was imported after what the verb printed.
ASK = """
import sys
from dashboard.cli import main
code = main({argv!r})
print(*sorted({{name.partition(".")[0] for name in sys.modules}}))
raise SystemExit(code)
"""


def conf(*words: str) -> tuple[list[str], set[str]]:
    said = subprocess.run(
        [sys.executable, "-c", ASK.format(argv=["conf", *words])],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    options, modules = said.stdout.splitlines()
    return shlex.split(options), set(modules.split())


def test_it_prints_options_for_spark_submit_on_one_line() -> None:
    options, _ = conf("--redis", "redis://cache:6379/0", "--job", "orders")
    assert options[0] == "--conf" or options[0].startswith("--")
    assert any("redis://cache:6379/0" in option for option in options)
    assert any("orders" in option for option in options)


def test_it_imports_no_django() -> None:
    _, modules = conf()
    assert modules.isdisjoint({"django", "channels", "celery", "ninja"})


def test_where_the_probe_cannot_be_built_it_prints_no_options(tmp_path: Path) -> None:
    said = subprocess.run(
        [sys.executable, "-m", "dashboard.cli", "conf"],
        cwd=ROOT,
        env={**os.environ, "SPARK_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert (said.returncode, said.stdout) == (1, "")
    assert said.stderr.startswith("curtail: this job runs unseen: no Spark in ")
