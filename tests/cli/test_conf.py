import shlex
import subprocess
import sys

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
