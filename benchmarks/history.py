"""What history costs: archiving windows, keeping them, opening a day, analysing a week.

**Archived.** A made-up job of four executors with every metric (`benchmarks.made_job`) is read from
a real Redis and appended by a round of the archiver: windows per second of CPU time of this
process, without roll-ups and with them. **Kept.** The example `traffic_jam` runs for a while and
what it sent is archived once: bytes of its files per window. The made-up job is no measure of that,
as its seconds repeat. **Opened.** A day of a job in steps of a minute, asked of a server over HTTP:
the first answer of that server, and the median of later ones. **Analysed.** A generated week of
jobs (`dashboard.testing.generated_week`) with one core and with two, in turns.
"""

import os
import sys
from collections.abc import Mapping
from statistics import median
from typing import Any

from benchmarks import history_archived as archived
from benchmarks import history_asked as asked
from benchmarks.machine import machine

SUMMARY = "history: windows archived and kept, a day opened, a week of 20 jobs analysed"

# Windows of the made-up job, seconds of the example, answers of the server; jobs, days and turns.
FULL = (400_000, 200, 20, 20, 7, 2)
QUICK = (20_000, 6, 3, 2, 2, 1)
AIMS = {"windows_per_s_core": 50_000, "bytes_per_window": 60, "day_open_ms": 1_000}


def run(quick: bool) -> Mapping[str, object]:
    windows, seconds, answers, jobs, days, turns = QUICK if quick else FULL
    load_before = os.getloadavg()[0]
    say(f"{windows} made-up windows from Redis to the archive")
    rates = archived.rates(windows)
    say(f"traffic_jam for {seconds} s")
    kept = archived.kept(seconds)
    say("a day of one job")
    opened_ms = asked.day_opened_ms(answers)
    say(f"{days} days of {jobs} jobs")
    taken_s = asked.analysed_s(jobs, days, turns)
    one, two = (median(each) for each in (taken_s[1], taken_s[2]))
    return {
        **rates,
        **kept,
        "day_open_ms": round(opened_ms[0], 1),
        "day_open_again_ms": round(median(opened_ms[1:]), 1),
        # A quick run analyses less: that is not the figure that the name promises.
        "week20_s": None if quick else round(two, 1),
        "analysed": {"jobs": jobs, "days": days},
        "analysed_s": {str(cores): [round(each, 1) for each in s] for cores, s in taken_s.items()},
        "scaling_2_over_1": round(one / two, 2),
        "aims": AIMS,
        "machine": machine(load_before),
    }


def table(result: Mapping[str, Any]) -> str:
    lines = [f"{name:<28} {value}" for name, value in result.items() if name not in ("aims",)]
    aims = ", ".join(f"{name} {value}" for name, value in result["aims"].items())
    return "\n".join([*lines, f"aims: {aims}"])


def say(words: str) -> None:
    print(f"history: {words}", file=sys.stderr, flush=True)
