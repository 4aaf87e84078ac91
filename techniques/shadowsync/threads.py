"""How many compaction threads each executor gets: a fixed number, the knee, or an unchanged number.
Section 4.2 of the paper, so for stages whose compactions overlap (statistical ShadowSync)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from techniques.model import Decision, Evidence, Mode, Options, Past
from techniques.shadowsync.exploration import (
    Exploration,
    State,
    begun,
    ended,
    looked,
    refused,
    steps,
)
from techniques.shadowsync.knee import knee, pairs
from techniques.view import View

# The most threads to try by default; the paper's range ends at 16.
PER_CORE = 2
MOST = 16
# Assumed while the number of cores of an executor is not known.
USUAL_CORES = 4


@dataclass(frozen=True)
class Threads:
    """`number` is 0 to leave the threads unchanged."""

    number: int = 0
    says: str = ""
    evidence: tuple[Evidence, ...] = ()
    memory: Mapping[str, Any] = field(default_factory=dict)


def threads(
    view: View, options: Options, past: Past, statistical: bool, goes_on: bool, others: bool
) -> Threads:
    """`goes_on`: ShadowSync of any kind is still found; `others`: other mitigations are on, too."""
    if fixed := int(options["compaction_threads"]):
        return Threads(fixed, _said(fixed)) if statistical else Threads()
    if not options["knee"]:
        return Threads()
    before = _before(past)
    if before is None:
        if not statistical:
            return Threads()
        before = begun(past.run, view)
    if before.state is State.EXPLORING and not goes_on:
        now = ended(before, view, "the ShadowSync was gone")
    else:
        may_act = past.mode is Mode.ACT and statistical and not past.refused
        now = looked(before, view, _steps(view, options), may_act, others)
    return _threads(now, view, past.mode)


def calmed(view: View, past: Past) -> Decision | None:
    """The decision once no ShadowSync is found any more, or None to keep the last one. Only threads
    that are being tried, or that were found for an earlier run, are changed."""
    if past.decision is None or (before := Exploration.of(past.decision.memory)) is None:
        return None
    if before.run == past.run and before.state is not State.EXPLORING:
        return None
    if before.run == past.run:
        now = _threads(ended(before, view, "the ShadowSync was gone"), view, past.mode)
    elif before.state is State.WAITING:
        return None
    else:
        now = Threads(evidence=(Evidence("compaction threads", "the job was started again"),))
    settings = {**past.decision.settings, "compaction_threads": now.number}
    reason = f"{now.says or 'compaction threads as they were'}: no ShadowSync is found now"
    return Decision(settings, reason, now.evidence, now.memory)


def withdrawn(past: Past) -> Decision | None:
    """The decision after the job refused a step of the search, or None if it did not. All settings
    stay unchanged: a lever that withdrew for safety takes any new settings as a fresh start."""
    if past.decision is None or (before := _before(past)) is None:
        return None
    if before.state is State.WITHDRAWN:
        return past.decision
    if before.state is State.EXPLORING and past.refused:
        told = Evidence("compaction threads", f"the search was given up: {past.refused}")
        memory = refused(before, past.refused).as_memory()
        return replace(past.decision, evidence=(told,), memory=memory)
    return None


def _before(past: Past) -> Exploration | None:
    """The search of this run of the job, if there is one."""
    found = Exploration.of(past.decision.memory) if past.decision else None
    return found if found and found.run == past.run else None


def _steps(view: View, options: Options) -> tuple[int, ...]:
    usual = min(MOST, PER_CORE * (view.cores or USUAL_CORES))
    fewest = int(options["fewest_threads"])
    return steps(fewest, max(fewest, int(options["most_threads"]) or usual))


def _threads(now: Exploration, view: View, mode: Mode) -> Threads:
    says, words = _told(now, view, mode)
    return Threads(now.threads, says, (Evidence("compaction threads", words),), now.as_memory())


def _told(now: Exploration, view: View, mode: Mode) -> tuple[str, str]:
    """Returns the words for the decision's reason and those for its evidence."""
    number = _said(now.threads)
    if now.state is State.EXPLORING:
        until = datetime.fromtimestamp(now.until_ms / 1000, UTC).strftime("%H:%M:%S UTC")
        step = f"step {now.step + 1} of {len(now.steps)}"
        tries = ", ".join(str(each) for each in now.steps)
        return (
            f"looking for the knee, {step}: {number} until {until}",
            f"{number} until {until}, {step}: tries {tries}, a minute each",
        )
    if now.state is not State.WAITING:
        return (f"{number}, the knee" if now.knee else ""), _with(now.threads, now.why)
    found = knee(pairs(view))
    if found.is_spread:
        return "", _with(0, found.why)
    then = "tried next if it goes on" if mode is Mode.ACT else "not tried in advise"
    return "", _with(0, f"{found.why}; other thread counts would show more and are {then}")


def _with(number: int, why: str) -> str:
    return f"{number or 'as they are'}: {why}"


def _said(number: int) -> str:
    return f"{number} compaction thread{'' if number == 1 else 's'}"
