"""The steps of `curtail test`: programs that run one after another."""

import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from dashboard.cli.root import ROOT

END_S = 10


@dataclass(frozen=True)
class Step:
    """`env` is set on top of what all steps get."""

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    step: Step
    code: int
    duration_s: float

    def __str__(self) -> str:
        verdict = "ok" if self.code == 0 else f"FAILED with code {self.code}"
        return f"{self.step.name:<20} {verdict}, {self.duration_s:.1f} s"


def run(step: Step, env: Mapping[str, str]) -> Outcome:
    print(f"\n== {step.name}", flush=True)
    began_s = time.monotonic()
    code = wait(subprocess.Popen(step.argv, cwd=ROOT, env={**env, **step.env}))
    outcome = Outcome(step, code, time.monotonic() - began_s)
    print(f"== {outcome}", flush=True)
    return outcome


def wait(process: subprocess.Popen[bytes]) -> int:
    """Returns its code. Whoever is asked to stop asks it too: fixtures of tests clean up only if
    pytest is asked, not if it is killed."""
    try:
        return process.wait()
    except (KeyboardInterrupt, SystemExit) as asked:
        # Ctrl-C has asked it.
        if isinstance(asked, SystemExit):
            process.send_signal(signal.SIGINT)
        try:
            process.wait(END_S)
        except subprocess.TimeoutExpired:
            process.kill()
        raise
