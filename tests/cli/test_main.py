import subprocess
import sys

import pytest

from dashboard.cli import VERBS, main
from dashboard.cli.root import ROOT


def test_without_a_verb_it_lists_the_verbs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    listed = capsys.readouterr().out
    assert all(f"  {verb} " in listed for verb in VERBS)


def test_an_unknown_verb_is_refused_with_the_known_ones(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["dmeo"]) == 2
    assert capsys.readouterr().err == (
        "curtail: no such verb: 'dmeo'; there are demo, up, archive, test, bench, analyze, conf\n"
    )


@pytest.mark.parametrize("verb", ["", "demo", "up", "archive", "bench", "conf", "test", "analyze"])
def test_help_of_every_verb_needs_nothing_but_the_standard_library(verb: str) -> None:
    # -S leaves out site-packages: the front door gives help before anything is installed.
    said = subprocess.run(
        [sys.executable, "-S", "-m", "dashboard.cli", *verb.split(), "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.startswith(f"usage: curtail {verb or 'VERB'}")
