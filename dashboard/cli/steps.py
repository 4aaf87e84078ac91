"""The steps of `curtail test`: programs that run one after another, or together."""

import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO

from dashboard.cli.root import ROOT

END_S = 10
LOOK_EVERY_S = 0.1


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
    return together([step], env)[0]


def together(steps: Sequence[Step], env: Mapping[str, str]) -> list[Outcome]:
    """Runs them at the same time. What the first says is seen as it says it, what the others say
    when they are done: two at once would be read by nobody."""
    print(f"\n== {' and '.join(step.name for step in steps)}", flush=True)
    running = [_Running(step, env, is_seen=step is steps[0]) for step in steps]
    outcomes: dict[str, Outcome] = {}
    try:
        while len(outcomes) < len(steps):
            for each in running:
                if each.step.name not in outcomes and each.process.poll() is not None:
                    outcomes[each.step.name] = each.ended()
            time.sleep(LOOK_EVERY_S)
    except (KeyboardInterrupt, SystemExit) as asked:
        # Ctrl-C has asked them as well.
        if isinstance(asked, SystemExit):
            for each in running:
                each.process.send_signal(signal.SIGINT)
        for each in running:
            end(each.process)
        raise
    return [outcomes[step.name] for step in steps]


def end(process: subprocess.Popen[bytes]) -> None:
    """Waits for one that was asked to stop. Fixtures of tests clean up only if pytest is asked, not
    if it is killed."""
    try:
        process.wait(END_S)
    except subprocess.TimeoutExpired:
        process.kill()


class _Running:
    def __init__(self, step: Step, env: Mapping[str, str], *, is_seen: bool) -> None:
        self.step = step
        self._began_s = time.monotonic()
        # Closed once it is shown.
        self._said: IO[bytes] | None = None if is_seen else tempfile.TemporaryFile()  # noqa: SIM115
        self.process = subprocess.Popen(
            step.argv,
            cwd=ROOT,
            env={**env, **step.env},
            stdout=self._said,
            stderr=None if is_seen else subprocess.STDOUT,
        )

    def ended(self) -> Outcome:
        outcome = Outcome(self.step, self.process.returncode, time.monotonic() - self._began_s)
        if self._said is not None:
            self._said.seek(0)
            text = self._said.read().decode(errors="replace")
            self._said.close()
            print(f"\n== {self.step.name}\n{text}", flush=True)
        print(f"== {outcome}", flush=True)
        return outcome
