"""What each part of ShadowSync desynchronisation gains: delay, threads and all, in every other pair
of rounds beside the arms of `benchmarks.shadowsync`."""

from collections.abc import Mapping

from benchmarks import shadowsync
from benchmarks.shadowsync import EXTRA
from benchmarks.switchback.engine import Plan

SUMMARY = "what each part of ShadowSync desynchronisation gains, alone and all together"

FULL = {name: Plan(budget_s=800, extra=EXTRA) for name in ("scheduled", "statistical")}
QUICK = {"statistical": Plan(budget_s=170, extra=EXTRA, warm_up=12, length=8, rounds=1)}

table = shadowsync.table


def run(quick: bool) -> Mapping[str, object]:
    return shadowsync.measured(QUICK if quick else FULL)
