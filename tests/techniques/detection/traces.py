"""Traces with known truth: a healthy job, and one thing at a time that goes wrong with it.

A batch a second; two stages of eight state stores that flush at every commit and compact every
fourth flush, each store in a phase of its own. Load, noise and seed vary; what is planted is said.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from techniques.view import (
    WINDOW_MS,
    Floats,
    Interval,
    Locality,
    Resource,
    ResourceKind,
    Tasks,
    View,
)
from techniques.view.tasks import TYPES

START_MS = 1_700_000_000_000
PER_SECOND = 1_000 // WINDOW_MS
HEAVY_PARTITION = 3


@dataclass(frozen=True)
class Setting:
    seconds: int = 120
    seed: int = 0
    latency_ms: float = 200.0
    batch_ms: int = 1_000
    stages: int = 2
    instances: int = 8
    period: int = 4
    # What goes wrong.
    in_phase: tuple[int, ...] = ()
    stages_in_phase: bool = False
    saturations_s: tuple[float, ...] = ()
    saturation_ms: int = 400
    spike: float = 4.0
    slow_every: int = 0
    growth_per_s: float = 0.0
    slow_executor: float = 1.0
    heavy_partition: float = 1.0
    gc_with_flush: bool = False
    # Chunks that wait for each instance of an operator pool, on average.
    pool_backlogs: tuple[float, ...] = ()


# What makes each rule fire, by its kind.
PLANTED = {
    "scheduled_shadowsync": Setting(in_phase=(0,)),
    "statistical_shadowsync": Setting(in_phase=(0, 1), stages_in_phase=True),
    "millibottleneck": Setting(saturations_s=(23.0, 51.3, 80.7)),
    "gc_shadow": Setting(gc_with_flush=True),
    "straggler": Setting(slow_executor=2.0),
    "skewed_partition": Setting(heavy_partition=3.0),
    "backlog_imbalance": Setting(pool_backlogs=(2, 9, 2, 3)),
    "queue_growth": Setting(growth_per_s=40.0),
    "periodic_slow_batch": Setting(slow_every=10),
}


@dataclass
class _Made:
    setting: Setting
    random: np.random.Generator
    latency: Floats
    cpu: Floats
    intervals: list[Interval] = field(default_factory=list)

    def window(self, ms: float) -> int:
        return int((ms - START_MS) // WINDOW_MS)

    def burden(self, start_ms: float, end_ms: float, times: float) -> None:
        """Latency in that time and half a second after, and the CPU with it."""
        first, last = self.window(start_ms), self.window(end_ms)
        self.latency[first : last + PER_SECOND // 2] *= times
        self.cpu[first : last + 1] = 1.0


def trace(setting: Setting) -> View:
    random = np.random.default_rng(setting.seed)
    windows = setting.seconds * PER_SECOND
    made = _Made(
        setting,
        random,
        latency=setting.latency_ms * random.lognormal(0, 0.15, windows),
        cpu=np.clip(random.normal(0.45, 0.08, windows), 0, 0.9),
    )
    _batches(made)
    _stores(made)
    for at_s in setting.saturations_s:
        start_ms = START_MS + at_s * 1000
        made.burden(start_ms, start_ms + setting.saturation_ms, setting.spike)
    return _view(made)


def moved(view: View, by_ms: int) -> View:
    """The same, at another time."""
    intervals = {
        kind: [
            replace(each, start_ms=each.start_ms + by_ms, end_ms=each.end_ms + by_ms)
            for each in held
        ]
        for kind, held in view.intervals.items()
    }
    return replace(
        view,
        start_ms=view.start_ms + by_ms,
        intervals=intervals,
        tasks=tasks(intervals.get("task", [])),
    )


def louder(view: View, times: float) -> View:
    """The same with all latencies that much longer."""
    return replace(
        view,
        p50_ms=view.p50_ms * times,
        p99_ms=view.p99_ms * times,
        p999_ms=view.p999_ms * times,
    )


def until(view: View, end_ms: float) -> View:
    """What was known of it at that time: an interval is told when it has ended."""
    windows = int((end_ms - view.start_ms) // WINDOW_MS)
    return replace(
        view,
        records=view.records[:windows],
        p50_ms=view.p50_ms[:windows],
        p99_ms=view.p99_ms[:windows],
        p999_ms=view.p999_ms[:windows],
        backlog_rows=view.backlog_rows[:windows],
        waiting_tasks=view.waiting_tasks[:windows],
        use={resource: share[:windows] for resource, share in view.use.items()},
        queues={name: lengths[:windows] for name, lengths in view.queues.items()},
        intervals=(known := _ended(view, end_ms)),
        tasks=tasks(known.get("task", [])),
    )


def _ended(view: View, end_ms: float) -> dict[str, list[Interval]]:
    return {
        kind: [each for each in held if each.end_ms <= end_ms]
        for kind, held in view.intervals.items()
    }


def tasks(ran: Sequence[Interval]) -> Tasks:
    """The same tasks as Spark's scheduler tells of them: of one stage a batch, which has state."""
    rows = [
        (
            each.start_ms,
            each.end_ms,
            each.executor,
            int(each.name.split()[1]),
            0,
            each.partition,
            0,
            False,
            True,
            Locality.PROCESS_LOCAL,
            0,
            0.0,
            True,
            False,
        )
        for each in ran
    ]
    columns = zip(*rows, strict=True) if rows else ([] for _ in TYPES)
    return Tasks(*(np.array(each, dtype) for each, dtype in zip(columns, TYPES, strict=True)))


def _batches(made: _Made) -> None:
    setting = made.setting
    for number in range(setting.seconds * 1000 // setting.batch_ms):
        start_ms = START_MS + number * setting.batch_ms
        length_ms = 0.6 * setting.batch_ms * made.random.lognormal(0, 0.08)
        if setting.slow_every and number % setting.slow_every == 3:
            length_ms *= 2.2
        made.intervals.append(
            Interval("batch", start_ms, start_ms + length_ms, name=f"batch {number}")
        )
        for task in range(8):
            executor = str(task % 2 + 1)
            slower = setting.slow_executor if executor == "2" else 1.0
            heavier = setting.heavy_partition if task == HEAVY_PARTITION else 1.0
            task_ms = 0.3 * setting.batch_ms * made.random.lognormal(0, 0.2) * slower * heavier
            made.intervals.append(
                Interval(
                    "task",
                    start_ms + 20,
                    start_ms + 20 + task_ms,
                    executor,
                    partition=task,
                    name=f"stage {number}",
                )
            )


def _stores(made: _Made) -> None:
    setting, random = made.setting, made.random
    phases = random.integers(0, setting.period, (setting.stages, setting.instances))
    for stage in setting.in_phase:
        phases[stage] = stage if not setting.stages_in_phase else 1
    for commit in range(setting.seconds * 1000 // setting.batch_ms):
        at_ms = START_MS + commit * setting.batch_ms + 0.6 * setting.batch_ms
        compacting = 0
        for stage in range(setting.stages):
            for partition in range(setting.instances):
                flush_ms = at_ms + float(random.uniform(0, 60))
                flushed_ms = flush_ms + float(random.uniform(20, 60))
                executor = str(partition % 2 + 1)
                made.intervals.append(
                    Interval("flush", flush_ms, flushed_ms, executor, stage, partition, "", 10**6)
                )
                if commit % setting.period == phases[stage][partition]:
                    compacting += 1
                    made.intervals.append(
                        Interval(
                            "compaction",
                            flushed_ms,
                            flushed_ms + float(random.uniform(150, 300)),
                            executor,
                            stage,
                            partition,
                            "",
                            4 * 10**6,
                        )
                    )
        if setting.gc_with_flush and commit % 4 == 0:
            made.intervals.append(Interval("gc", at_ms, at_ms + 120, "1", name="G1"))
            made.burden(at_ms, at_ms + 150, setting.spike)
        elif commit % 7 == 0:
            pause_ms = START_MS + commit * setting.batch_ms + float(random.uniform(0, 500))
            made.intervals.append(Interval("gc", pause_ms, pause_ms + 15, "1", name="G1"))
        if setting.in_phase and compacting >= setting.instances:
            made.burden(at_ms, at_ms + 350, setting.spike)


def _view(made: _Made) -> View:
    setting, windows = made.setting, len(made.latency)
    # Records complete in the first part of each second only.
    seen = (np.arange(windows) % PER_SECOND) < 13
    p99 = np.where(seen, made.latency, np.nan)
    seconds = np.arange(windows) / PER_SECOND
    noise = made.random.normal(0, 30, windows)
    return View(
        start_ms=START_MS,
        records=np.where(seen, 500.0, 0.0),
        p50_ms=p99 / 2,
        p99_ms=p99,
        p999_ms=p99 * 1.3,
        backlog_rows=np.maximum(0, 500 + setting.growth_per_s * seconds + noise),
        waiting_tasks=np.zeros(windows),
        use={Resource(ResourceKind.CPU, "node-a"): made.cpu},
        queues={
            f"scores@node-a/score/score-{at}": made.random.poisson(mean, windows).astype(np.float64)
            for at, mean in enumerate(setting.pool_backlogs)
        },
        intervals=(intervals := by_kind(made.intervals)),
        tasks=tasks(intervals.get("task", [])),
    )


def by_kind(intervals: list[Interval]) -> dict[str, list[Interval]]:
    found: dict[str, list[Interval]] = {}
    for interval in intervals:
        found.setdefault(interval.kind, []).append(interval)
    return found
