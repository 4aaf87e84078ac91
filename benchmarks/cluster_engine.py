"""Runs the blocks of a regime on one query of a cluster, and lets real controllers decide in it."""

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import live_speculation
from benchmarks.cluster_figures import Figures, Recorded, Stretch
from benchmarks.cluster_regimes import BALANCING, TECHNIQUES, Plan, Regime, asked, orders, spread
from benchmarks.switchback.query import START_S, Query, Refused, Stuck
from collectors.formats import keys
from collectors.formats.wire import WINDOW_MS
from dashboard.cli import cluster as spark_cluster
from dashboard.cli import programs
from dashboard.series.history import DRIVER, LOOKS_BACK_MS, History
from dashboard.testing.cluster import Cluster
from dashboard.testing.running import Running
from dashboard.testing.stack import RedisServer
from examples import cluster_counts
from techniques.model import Decision, Mode, Options, Past
from techniques.options import checked
from techniques.registry import Registry
from techniques.schema import Settings

# As a worker of the dashboard does.
DECIDES_EVERY_S = 5.0
HELD_S = 30.0
# Batches after the partitions are back in their places, so that their state is loaded.
BACK_BATCHES = 3
# The last tasks of a block are reported a little after its last batch.
LINGER_BATCHES = 2


class Pilot:
    """Decides for one technique as a worker of the dashboard does, from the moment it is made."""

    def __init__(self, registry: Registry, technique: str, options: Options, run: str) -> None:
        self._controller = registry.controller(technique)
        self._options = checked(registry.techniques[technique].options, options)
        self._run = run
        self._decision: Decision | None = None
        self._history = History(LOOKS_BACK_MS // WINDOW_MS)
        self.technique = technique

    @property
    def settings(self) -> Settings | None:
        return None if self._decision is None else self._decision.settings

    def hear(self, query: Query, frames_from: int, activities_from: int) -> None:
        self._history.add(query.frames[frames_from:], query.activities[activities_from:])

    def decide(self) -> bool:
        """Returns whether the settings are new."""
        past = Past(Mode.ACT, self._run, self._decision)
        decided = self._controller.decide(self._history.view(), self._options, past)
        before, self._decision = self.settings, decided or self._decision
        return self.settings != before


class SteeredQuery(Query):
    """A query that a pilot may steer while the benchmark waits."""

    # Controllers read what they like.
    only = None

    def __init__(self, running: Running, redis_url: str) -> None:
        job_id = keys.job_id(cluster_counts.NAME, cluster_counts.QUERY)
        super().__init__(running, redis_url, job_id)
        self._pilot: Pilot | None = None
        self._base: dict[str, Settings] = {}
        self._decided_s = 0.0

    @property
    def executors(self) -> list[str]:
        """The ids of those that reported in the newest frame."""
        told = {each.executor_id for each in self.frames[-1].executors}
        return sorted(told - {DRIVER})

    @property
    def run(self) -> str:
        return str(self.frames[-1].run_id)

    def steer(self, base: dict[str, Settings], pilot: Pilot | None = None) -> None:
        """Asks for `base`, and from now on for what the pilot decides."""
        self._base = base
        self._pilot = pilot
        self._decided_s = time.monotonic()
        self.ask_for(base)

    def _look(self) -> None:
        frames, activities = len(self.frames), len(self.activities)
        super()._look()
        if (pilot := self._pilot) is None:
            return
        pilot.hear(self, frames, activities)
        if time.monotonic() - self._decided_s < DECIDES_EVERY_S:
            return
        self._decided_s = time.monotonic()
        if pilot.decide() and pilot.settings is not None:
            self.ask_for({**self._base, pilot.technique: pilot.settings})


@dataclass(frozen=True)
class Measured:
    """`left_out` maps arms that were not measured to the reason."""

    figures: tuple[Figures, ...]
    left_out: dict[str, str] = field(default_factory=dict)


def measure(
    regime: Regime,
    plan: Plan,
    query: SteeredQuery,
    cluster: Cluster,
    folder: Path,
    say: Callable[[str], None],
) -> Measured:
    stretches: list[Stretch] = []
    left_out: dict[str, str] = {}
    for number, order in enumerate(orders(regime.arms, plan.rounds[regime.name])):
        for arm in order:
            if arm in left_out:
                continue
            say(f"round {number + 1}: {arm}")
            with neighbour(regime, cluster, folder, seed=number):
                try:
                    stretches.append(one_block(query, regime, number, arm, plan))
                except Refused as no:
                    left_out[arm] = f"refused: {no}"
    query.steer({})
    query.wait_for_batches(LINGER_BATCHES)
    recorded = Recorded(query.frames, query.activities)
    found = [figures for each in stretches if (figures := recorded.figures(each))]
    return Measured(tuple(found), left_out)


def one_block(query: SteeredQuery, regime: Regime, number: int, arm: str, plan: Plan) -> Stretch:
    if regime.partitions and BALANCING in regime.arms:
        put_back(query, regime)
    query.steer(asked(arm))
    hold(query)
    asked_ms = time.time() * 1000
    if arm in TECHNIQUES:
        pilot = Pilot(Registry(), TECHNIQUES[arm], plan.options.get(arm, {}), query.run)
        query.steer(asked(arm), pilot)
    query.wait_for_batches(plan.settles(arm))
    first, last = query.wait_for_batches(plan.length)
    return Stretch(number, arm, asked_ms, first, last)


def put_back(query: SteeredQuery, regime: Regime) -> None:
    """Spreads the state partitions evenly, as every block is to find them."""
    places = spread(regime.partitions, query.executors)
    query.steer({TECHNIQUES[BALANCING]: places})
    hold(query)
    query.wait_for_batches(BACK_BATCHES)


def hold(query: SteeredQuery) -> None:
    """Waits until every JVM holds what was asked."""
    if not query.wait(query.held, HELD_S):
        raise Refused(f"not applied within {HELD_S:.0f} s")


@contextmanager
def started(
    regime: Regime, cluster: Cluster, redis: RedisServer, folder: Path, warm_up: int
) -> Iterator[SteeredQuery]:
    """Yields the regime's query, warm."""
    env = programs.environ(
        os.environ,
        REDIS_URL=redis.url,
        CURTAIL_TECHNIQUES=live_speculation.__name__,
        **programs.same_python(),
    )
    words = ("--master", cluster.url, *regime.words)
    with Running(programs.job(env, "cluster_counts", folder, *words)) as running:
        query = SteeredQuery(running, redis.url)
        if not query.wait(lambda: query.last_batch >= 0, START_S):
            raise Stuck(f"{cluster_counts.NAME} did not start:\n{running.said()}")
        query.wait_for_batches(warm_up)
        yield query


@contextmanager
def neighbour(regime: Regime, cluster: Cluster, folder: Path, seed: int) -> Iterator[None]:
    words = regime.neighbour([each.work_dir for each in cluster.workers], seed)
    program = spark_cluster.neighbour(os.environ, folder / "neighbour.log", *words)
    with Running(program) if words else nullcontext():
        yield


@contextmanager
def scratch() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="curtail-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)
