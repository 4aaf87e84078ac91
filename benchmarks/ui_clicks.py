"""From a click on a technique's card until the card says *applied*, on a job that runs in Spark.

The technique is the tests' `echo`, which asks every executor to hold a word: what is measured is
the way there and back, not what a technique does. Each click is timed inside the page, from the
press of the dialog's button to the frame in which the card says so, and is then undone.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
from playwright.sync_api import Page

from dashboard.cli.child import Program
from dashboard.testing.running import Running
from dashboard.testing.stack import Stack

TECHNIQUES = "tests.techniques.echo"
JOB, JOB_ID = ("traffic_jam", "--setting", "calm"), "traffic-jam.ranking"
STARTS_MS = 120_000
ANSWERS_MS = 60_000
# Clicks that are not counted: the first ones of a page, and the first orders to a job.
WARM_UP = 2

# Resolves to milliseconds; a card is drawn anew with every change, so it is looked up each time.
CLICK = """
async ([mode, state]) => {
  const card = () => document.querySelector("#technique-echo");
  const frame = () => new Promise(requestAnimationFrame);
  const until = async (reached) => { while (!reached()) await frame(); };
  card().querySelector(`[data-of="echo ${mode}"]`).click();
  const dialog = document.querySelector("[data-mode-dialog]");
  await until(() => dialog.open);
  const began = performance.now();
  dialog.querySelector("[type=submit]").click();
  await until(() => card().dataset.mode === mode && card().dataset.state === state);
  return performance.now() - began;
}
"""


def applied_ms(page: Page, running: Stack, clicks: int) -> dict[str, object]:
    page.goto(f"{running.url}/jobs/{JOB_ID}")
    page.locator("#technique-echo").wait_for(timeout=STARTS_MS)
    _clicked(page, WARM_UP)
    idle = _clicked(page, clicks)
    with every_core_busy(running):
        busy = _clicked(page, clicks)
    return {**_figures("applied", idle), **_figures("applied_busy", busy), "clicks": clicks}


def _clicked(page: Page, clicks: int) -> list[float]:
    found = []
    for _ in range(clicks):
        found.append(_click(page, "act", "applied"))
        _click(page, "off", "off")
    return found


def _click(page: Page, mode: str, state: str) -> float:
    page.set_default_timeout(ANSWERS_MS)
    took_ms: Any = page.evaluate(CLICK, [mode, state])
    return float(took_ms)


def _figures(name: str, found_ms: list[float]) -> dict[str, object]:
    return {f"{name}_p{q}_ms": round(float(np.percentile(found_ms, q))) for q in (50, 99)}


@contextmanager
def every_core_busy(running: Stack) -> Iterator[None]:
    """Runs a busy loop per core at normal priority."""
    with ExitStack() as cleanup:
        for at in range(os.cpu_count() or 1):
            argv = (sys.executable, "-c", "while True: pass")
            cleanup.enter_context(
                Running(Program(f"loop{at}", argv, os.environ, running.data_dir / f"loop{at}.log"))
            )
        yield
