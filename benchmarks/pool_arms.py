"""Ways to run one operator pool that take turns under the same open-loop load.

One pool stays up. An *arm* is a policy with settings; a *block* is some seconds of one arm, put in
force by the same call as in production (`RunningPool.switch`). A round has one block per arm, in an
order that differs from round to round; all blocks of a round have the same arrivals, the same
chunks and the same planted pauses, so that within a round only the arm differs. What is sent in the
first seconds of a block (`settle_s`) is not counted. A block ends when all its results are back.

Latency counts from the time at which a chunk was meant to be sent. Ratios (arm / baseline) are
taken within a round; the interval is Student's over rounds, on logarithms. Service times are waits,
so that there can be more instances than cores. The driver is one process with a thread per
dispatcher (as Spark has tasks and Storm has spouts), and how late chunks left it is part of each
result (`left_late_ms_p99`).
"""

import os
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from types import TracebackType
from typing import NamedTuple, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchmarks.machine import machine
from benchmarks.ratios import Interval, ratio_of
from techniques.pool import control
from techniques.pool.page import Page
from techniques.pool.page_words import HeaderWord, InstanceWord, SlotWord
from techniques.pool.plan import Plan
from techniques.pool.policies import BASELINE
from techniques.pool.workload import arrivals, driver
from techniques.pool.workload.pauses import Pauses

Floats = NDArray[np.float64]
# (count, seed) → chunks.
Chunks = Callable[[int, int], Sequence[pa.RecordBatch]]

SAMPLED_S = 0.1
WARM_UP_S = 0.5
READY_S = 30.0
PERCENTILES = {"p90": 90.0, "p99": 99.0, "p999": 99.9}


@dataclass(frozen=True)
class Arm:
    name: str
    policy: str = BASELINE
    settings: Mapping[str, int] = field(default_factory=dict)
    # Of its own where it needs longer than others, or less.
    settle_s: float | None = None


@dataclass(frozen=True)
class Shape:
    """How long, how often and how fast."""

    rate_per_s: float
    settle_s: float
    count_s: float
    rounds: int


class Sample(NamedTuple):
    """What the pool's page said at a time of a block; counters are since the pool began."""

    at_s: float
    sent: int
    replayed: int
    won: int
    executed: int
    busy_ns: int
    timeout_us: int
    waiting: int
    weights: tuple[float, ...]


@dataclass(frozen=True)
class Block:
    """One row per counted chunk; samples of the whole block."""

    latency_ms: Floats
    late_ms: Floats
    # From the intended time until the work began; None unless the operator says so.
    waited_ms: Floats | None
    settle_s: float
    samples: tuple[Sample, ...]

    def percentile_ms(self, name: str) -> float:
        return float(np.percentile(self.latency_ms, PERCENTILES[name]))

    @property
    def counted(self) -> tuple[Sample, Sample]:
        """The first and the last sample of the part that counts."""
        return self.counted_samples[0], self.counted_samples[-1]

    @property
    def counted_samples(self) -> Sequence[Sample]:
        found = [each for each in self.samples if each.at_s >= self.settle_s]
        return found or self.samples[-1:]


# By the name of the arm.
Round = Mapping[str, Block]


def orders(arms: Sequence[Arm], rounds: int) -> Iterator[list[Arm]]:
    """Each round begins one arm further on, and every second one goes backwards: no arm is always
    first, or always comes after the same one."""
    for number in range(rounds):
        at = number % len(arms)
        turned = [*arms[at:], *arms[:at]]
        yield turned if number % 2 == 0 else turned[::-1]


class Load:
    """A pool under load, up until the end of the `with` block."""

    def __init__(
        self,
        plan: Plan,
        chunks: Chunks,
        *,
        pauses: Pauses | None = None,
        began_column: str | None = None,
        dispatchers: int = 1,
    ) -> None:
        self._plan = plan
        self._chunks = chunks
        self._pauses = pauses
        self._began_column = began_column
        self._dispatchers = dispatchers
        self._application = f"bench-{uuid.uuid4().hex[:12]}"

    def __enter__(self) -> Self:
        try:
            times_s = arrivals.poisson(100, WARM_UP_S)
            driver.drive(self._plan, self._chunks(len(times_s), 0), times_s, self._application)
            self._wait_until_ready()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()

    def rounds(self, arms: Sequence[Arm], shape: Shape) -> list[Round]:
        longest_s = max(_settle_s(arm, shape) for arm in arms)
        taken: list[Round] = []
        for number, order in enumerate(orders(arms, shape.rounds)):
            times_s = arrivals.poisson(shape.rate_per_s, longest_s + shape.count_s, seed=number)
            chunks = self._chunks(len(times_s), number)
            print(
                f"{self._plan.name}: round {number + 1} of {shape.rounds}: "
                f"{', '.join(arm.name for arm in order)}",
                file=sys.stderr,
            )
            blocks: dict[str, Block] = {}
            for arm in order:
                settle_s = _settle_s(arm, shape)
                left_out = int(np.searchsorted(times_s, longest_s - settle_s))
                own_s = times_s[left_out:] - (longest_s - settle_s)
                blocks[arm.name] = self.block(arm, own_s, chunks[left_out:], settle_s, number)
            taken.append(blocks)
        return taken

    def block(
        self,
        arm: Arm,
        times_s: arrivals.Times,
        chunks: Sequence[pa.RecordBatch],
        settle_s: float,
        draw: int,
    ) -> Block:
        running = control.running(self._application, self._plan.name)
        if running is None:
            raise RuntimeError(f"the pool {self._plan.name} is gone")
        running.switch(arm.policy, **arm.settings)
        page = running.page()
        samples: list[Sample] = []

        def watch(now_s: float) -> None:
            if not samples or now_s - samples[-1].at_s >= SAMPLED_S:
                samples.append(sampled(page, now_s))

        try:
            run = self._drive(times_s, chunks, draw, watch)
        finally:
            page.close()
            if self._pauses is not None:
                self._pauses.stop()
        counted = times_s >= settle_s
        waited_ms = None
        if run.began_s is not None:
            waited_ms = (run.began_s - times_s)[counted] * 1000
        return Block(
            run.latency_ms[counted], run.late_ms[counted], waited_ms, settle_s, tuple(samples)
        )

    def _drive(
        self,
        times_s: arrivals.Times,
        chunks: Sequence[pa.RecordBatch],
        draw: int,
        watch: Callable[[float], None],
    ) -> "_Driven":
        """All dispatchers begin together; each arrival is one dispatcher's, drawn at random."""
        owners = owner_of(len(times_s), self._dispatchers, draw)
        together = threading.Barrier(self._dispatchers, lambda: self._begin(draw))

        def driven(dispatcher: int) -> driver.Run:
            own = np.flatnonzero(owners == dispatcher)
            try:
                return driver.drive(
                    self._plan,
                    [chunks[at] for at in own.tolist()],
                    times_s[own],
                    self._application,
                    column=self._began_column,
                    begin=lambda: _passed(together),
                    watch=watch if dispatcher == 0 else None,
                )
            except BaseException:
                together.abort()
                raise

        with ThreadPoolExecutor(self._dispatchers) as threads:
            runs = list(threads.map(driven, range(self._dispatchers)))
        return _Driven.of(runs, owners)

    def _begin(self, draw: int) -> None:
        if self._pauses is not None:
            self._pauses.begin(draw)

    def _wait_until_ready(self) -> None:
        running = control.running(self._application, self._plan.name)
        assert running is not None
        page = running.page()
        try:
            end_s = time.monotonic() + READY_S
            whole = range(page.operators)
            while any(len(page.ready(at)) < len(page.operator(at)) for at in whole):
                if time.monotonic() > end_s:
                    raise RuntimeError(f"the pool {self._plan.name} does not come up")
                time.sleep(0.01)
        finally:
            page.close()

    def _end(self) -> None:
        driver.ended(self._application, self._plan.name)
        if self._pauses is not None:
            self._pauses.stop()


def owner_of(count: int, dispatchers: int, seed: int) -> NDArray[np.int64]:
    """Draws which dispatcher an arrival is of: parts of a Poisson stream drawn so are independent
    Poisson streams."""
    drawn: NDArray[np.int64] = np.random.default_rng((seed, 2)).integers(0, dispatchers, count)
    return drawn


@dataclass(frozen=True)
class _Driven:
    """What all dispatchers measured, in the order of arrivals."""

    latency_ms: Floats
    late_ms: Floats
    # When the work on each began, since the start.
    began_s: Floats | None

    @classmethod
    def of(cls, runs: Sequence[driver.Run], owners: NDArray[np.int64]) -> Self:
        latency_ms, late_ms, began_s = (np.zeros(len(owners)) for _ in range(3))
        for dispatcher, run in enumerate(runs):
            own = owners == dispatcher
            latency_ms[own], late_ms[own] = run.latency_ms, run.late_ms
            if run.told is not None:
                began_s[own] = run.told / 1e9 - run.start_s
        return cls(latency_ms, late_ms, began_s if runs[0].told is not None else None)


def _passed(barrier: threading.Barrier) -> None:
    barrier.wait()


def sampled(page: Page, at_s: float) -> Sample:
    words = page.words
    slots = [page.slot(slot) for slot in page.holders()]
    instances = [page.instance(one) for one in range(page.instances)]
    return Sample(
        at_s,
        sent=sum(words[at + SlotWord.SENT] for at in slots),
        replayed=sum(words[at + SlotWord.REPLAYED] for at in slots),
        won=sum(words[at + SlotWord.WON] for at in slots),
        executed=sum(words[at + InstanceWord.EXECUTED] for at in instances),
        busy_ns=sum(words[at + InstanceWord.BUSY_NS] for at in instances),
        timeout_us=words[HeaderWord.TIMEOUT_US],
        waiting=sum(words[at + InstanceWord.PARKED] for at in instances),
        weights=tuple(words[at + InstanceWord.WEIGHT] / 100 for at in instances),
    )


def ratios(rounds: Sequence[Round], arm: str, baseline: str) -> dict[str, float | None]:
    """The percentiles of an arm by those of the baseline, each with its interval."""
    found: dict[str, float | None] = {}
    for name in PERCENTILES:
        pairs = [
            (each[arm].percentile_ms(name), each[baseline].percentile_ms(name)) for each in rounds
        ]
        found |= keys(f"{name}_ratio", ratio_of(pairs))
    return found


def keys(name: str, interval: Interval) -> dict[str, float | None]:
    mean, low, high = interval.rounded(3)
    return {name: mean, f"{name}_low": low, f"{name}_high": high}


def replay_cost(rounds: Sequence[Round], arm: str) -> float:
    """Chunks sent a second time by chunks sent, in the parts that count."""
    ends = [each[arm].counted for each in rounds]
    sent = sum(last.sent - first.sent for first, last in ends)
    return round(sum(last.replayed - first.replayed for first, last in ends) / max(1, sent), 4)


def work_cost(rounds: Sequence[Round], arm: str, operators: int) -> float:
    """Executions beyond one per chunk and operator; of a copy that was dropped there is none."""
    ends = [each[arm].counted for each in rounds]
    sent = sum(last.sent - first.sent for first, last in ends)
    executed = sum(last.executed - first.executed for first, last in ends)
    return round(executed / max(1, sent * operators) - 1, 4)


def levels_ms(rounds: Sequence[Round]) -> dict[str, dict[str, float]]:
    """Of each arm, over the chunks of all rounds."""
    found: dict[str, dict[str, float]] = {}
    for name in rounds[0]:
        latency_ms = np.concatenate([each[name].latency_ms for each in rounds])
        drawn = np.percentile(latency_ms, (50, *PERCENTILES.values()))
        levels = dict(zip(("p50", *PERCENTILES), map(float, drawn), strict=True))
        levels |= {"mean": float(latency_ms.mean()), "chunks": len(latency_ms)}
        found[name] = {key: round(value, 2) for key, value in levels.items()}
    return found


def left_late_ms(rounds: Sequence[Round]) -> float:
    """How late chunks left the driver, p99 of all: what it adds to a latency by itself."""
    late_ms = np.concatenate([block.late_ms for each in rounds for block in each.values()])
    return round(float(np.percentile(late_ms, 99)), 3)


def waiting_machine(load_before: float) -> dict[str, object]:
    return {**machine(load_before), "service": "waits, which take no core"}


def load_now() -> float:
    return os.getloadavg()[0]


def ratio_line(name: str, found: Mapping[str, object], *more: str) -> str:
    """A line of a table: the three ratios of one arm with their intervals."""
    cells = [_with_interval(found, f"{each}_ratio") for each in PERCENTILES]
    return f"{name:<24}" + "".join(f"{cell:<24}" for cell in cells) + "  ".join(more)


def ratio_head(title: str, *more: str) -> str:
    return f"{title:<24}" + "".join(f"{name:<24}" for name in PERCENTILES) + "  ".join(more)


def _with_interval(found: Mapping[str, object], name: str) -> str:
    low, high = found[f"{name}_low"], found[f"{name}_high"]
    return f"{found[name]}" + (f" ({low} to {high})" if low is not None else "")


def _settle_s(arm: Arm, shape: Shape) -> float:
    return shape.settle_s if arm.settle_s is None else arm.settle_s
