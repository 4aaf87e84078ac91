"""Runs blocks on one query: brings stores in phase, applies the arm, lets it settle, measures."""

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean

from benchmarks.switchback import arms
from benchmarks.switchback.arms import SPARKS, Block, Draw
from benchmarks.switchback.figures import Figures, Recorded, Stretch
from benchmarks.switchback.query import Query, Refused, started
from benchmarks.switchback.regimes import Regime
from dashboard.series.history import History
from dashboard.testing.stack import RedisServer
from techniques.shadowsync import controller
from techniques.shadowsync.technique import TECHNIQUE

# The last compactions of a block are reported a little after its last batch.
LINGER_BATCHES = 1
# The next round may take longer than those before.
SLACK = 1.1
# The share of the remaining time that the warm-up may take at most, on a busy machine.
WARM_UP = 0.4
# Whole compaction cycles per block: part of one more would give that part too much weight.
CYCLES = 2


@dataclass(frozen=True)
class Plan:
    """`budget_s` is the total time, with the start of the JVM; lengths are in micro-batches.
    `rephase` and `length` are at least two cycles of compactions."""

    budget_s: float
    extra: tuple[str, ...] = ()
    draw: Draw = SPARKS
    rounds: int = 20
    warm_up: int = 30
    settle: int = 2
    length: int = 12
    # Stores that are out of phase need a cycle or two to get in phase.
    rephase: int = 14
    held_s: float = 10.0


@dataclass(frozen=True)
class Measured:
    """`left_out` maps arms that were not measured to the reason."""

    figures: tuple[Figures, ...]
    left_out: dict[str, str] = field(default_factory=dict)
    delay: str = ""


def measure(regime: Regime, plan: Plan, redis: RedisServer, say: Callable[[str], None]) -> Measured:
    until_s = time.monotonic() + plan.budget_s
    with (
        tempfile.TemporaryDirectory(prefix="curtail-", ignore_cleanup_errors=True) as folder,
        started(regime, redis, Path(folder)) as query,
    ):
        return on(query, regime, plan, until_s, say)


def on(
    query: Query, regime: Regime, plan: Plan, until_s: float, say: Callable[[str], None]
) -> Measured:
    """Measures whole rounds until `until_s` (monotonic clock): half a round is not counterbalanced.
    The first is started in any case, and cut short on a machine that is too slow for it."""
    say(f"warming up for {plan.warm_up} batches")
    query.wait(lambda: query.last_batch >= plan.warm_up, (until_s - time.monotonic()) * WARM_UP)
    delay_ms, why = delay_of(query) if plan.extra else (None, "")
    left_out = {} if delay_ms or arms.DELAY not in plan.extra else {arms.DELAY: why}
    stretches: list[Stretch] = []
    seeds = arms.seeds(regime.stores, plan.rounds, plan.draw)
    took_s: list[float] = []
    for number, order in enumerate(arms.orders(plan.rounds, plan.extra)):
        blocks = arms.blocks(number, order, seeds[number], delay_ms, draw=plan.draw)
        if number and time.monotonic() + SLACK * fmean(took_s) * len(blocks) > until_s:
            break
        for block in blocks:
            began_s = time.monotonic()
            if stretches and began_s > until_s:
                if all(each.arm != block.arm for each in stretches):
                    left_out[block.arm] = "the time was up"
                continue
            say(f"round {number + 1}: {block.arm}")
            try:
                stretches.append(one_block(query, block, plan))
            except Refused as no:
                left_out[block.arm] = f"refused: {no}"
            took_s.append(time.monotonic() - began_s)
    query.wait_for_batches(LINGER_BATCHES)
    recorded = Recorded(query.frames, query.activities)
    found = [figures for each in stretches if (figures := recorded.figures(each))]
    return Measured(tuple(found), left_out, why)


def one_block(query: Query, block: Block, plan: Plan) -> Stretch:
    cycles = CYCLES * block.cycle
    in_step = True
    if block.rephase is not None:
        query.ask(block.rephase)
        in_step = query.wait_within(query.held, max(plan.rephase, cycles))
    if block.rephase is None or block.settings != block.rephase:
        query.ask(block.settings)
        if not query.wait(query.held, plan.held_s):
            raise Refused(f"not applied within {plan.held_s:.0f} s")
    query.wait_for_batches(plan.settle)
    first, last = query.wait_for_batches(max(plan.length, cycles))
    query.held()  # raises if the job has given it up meanwhile
    return Stretch(block.round, block.arm, first, last, in_step)


def delay_of(query: Query) -> tuple[int | None, str]:
    """The delay T that the technique's controller computes for this job, and the reason."""
    history = History(len(query.frames))
    history.add(query.frames, query.activities)
    options = {each.name: each.default for each in TECHNIQUE.options}
    decision = controller.decide(history.view(), {**options, "delay": True, "preventive": True})
    if decision is None:
        return None, "the controller decides nothing for this job"
    told = (each.value for each in decision.evidence if each.name == "compaction waits")
    delay_ms = decision.settings["delay_ms"]
    assert isinstance(delay_ms, int)
    return delay_ms or None, next(told, "no delay is known")
