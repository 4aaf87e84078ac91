"""With changelog checkpoints and without: this is set at the start, so two queries take turns.

A start has a process, a checkpoint and a Redis of its own. Its first micro-batches are left out,
then the arms that can be switched while it runs follow each other as blocks do elsewhere. A round
is one start without changelogs and one with them; every second round is the one before backwards,
so starts alternate as A B, B A, and ratios are taken within a round.

    without changelogs   off, thresholds
    with changelogs      changelog, snapshots
"""

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from benchmarks.switchback import arms
from benchmarks.switchback.engine import LINGER_BATCHES, SLACK, Measured, Plan, one_block
from benchmarks.switchback.figures import Figures, Recorded, Stretch
from benchmarks.switchback.query import Query, Refused, started
from benchmarks.switchback.regimes import Regime
from dashboard.testing.stack import redis_server

# Spark writes a snapshot every so many versions, and phases change at the next one.
SNAPSHOT_EVERY = 10

Start = Callable[[Regime], AbstractContextManager[Query]]


def plan(budget_s: float, rounds: int = 20, warm_up: int = 24, length: int = 20) -> Plan:
    return Plan(budget_s, rounds=rounds, warm_up=warm_up, settle=SNAPSHOT_EVERY, length=length)


@contextmanager
def on_its_own(regime: Regime) -> Iterator[Query]:
    with (
        redis_server() as redis,
        tempfile.TemporaryDirectory(prefix="curtail-", ignore_cleanup_errors=True) as folder,
        started(regime, redis, Path(folder)) as query,
    ):
        yield query


def measure(
    regime: Regime, plan: Plan, say: Callable[[str], None], start: Start = on_its_own
) -> Measured:
    """Measures whole rounds while there is time for one as long as the longest so far."""
    until_s = time.monotonic() + plan.budget_s
    seeds = arms.seeds(regime.stores, plan.rounds)
    found: list[Figures] = []
    left_out: dict[str, str] = {}
    longest_s = 0.0
    for number, order in enumerate(arms.starts(plan.rounds)):
        began_s = time.monotonic()
        if number and began_s + SLACK * longest_s > until_s:
            break
        for wanted in order:
            is_changelog = arms.CHANGELOG in wanted
            say(f"round {number + 1}: {'with' if is_changelog else 'without'} changelogs")
            blocks = arms.blocks(number, wanted, seeds[number], None)
            with start(regime.with_changelog if is_changelog else regime) as query:
                found += one_start(query, blocks, plan, left_out, say)
        longest_s = max(longest_s, time.monotonic() - began_s)
    return Measured(tuple(found), left_out)


def one_start(
    query: Query,
    blocks: Sequence[arms.Block],
    plan: Plan,
    left_out: dict[str, str],
    say: Callable[[str], None],
) -> list[Figures]:
    query.wait_for_batches(max(0, plan.warm_up - query.last_batch))
    stretches: list[Stretch] = []
    for block in blocks:
        say(f"round {block.round + 1}: {block.arm}")
        try:
            stretches.append(one_block(query, block, plan))
        except Refused as no:
            left_out[block.arm] = f"refused: {no}"
    query.wait_for_batches(LINGER_BATCHES)
    recorded = Recorded(query.frames, query.activities)
    return [figures for each in stretches if (figures := recorded.figures(each))]
