"""The workloads of Henge's evaluation (section 8), and that of its figure 1.

One number is calibrated, once and before the state machine ran on it: `NOMINAL_PER_S`, the input of
a PageLoad job. Storm's default parallelism is one thread per operator. With the nominal input at
night, default Storm satisfies 4.3 % of the SLOs over the two days of the diurnal workload (mean of
three seeds; 4.56 % in the paper, whose median of 0.0006 % and 90th percentile of 30.9 % were not
fitted). All other workloads use the same input and parallelism, but for the production mix, whose
sizes the paper gives.

The EPA and SDSC traces are not here, only their shape as the paper tells it: level through the
night, rising from hour 7 to the peak at hour 13⅓, then falling. How much higher the day is than the
night, and when it ends, are assumptions.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import cos, pi, sin
from statistics import median

from techniques.slo.objective import JuiceTarget, LatencyTarget, Objective, Of, Statistic
from techniques.slo.simulation.cluster import Job, Machines
from techniques.slo.simulation.topologies import (
    DIAMOND,
    LINEAR,
    PAGE_LOAD,
    STAR,
    WORD_COUNT,
    Topology,
)

NOMINAL_PER_S = 232.0
# Nothing acts before: the paper lets jobs run so long with vanilla Storm.
HELD_BACK_S = 900.0
MAX_UTILITY = 35.0
TRACE_HOUR_S = 600.0

# From a time in seconds, the tuples a second that come into a job.
Rate = Callable[[float], float]


@dataclass(frozen=True)
class Workload:
    """`starts_s` is when a job comes, if not at the beginning; between `blind_s` nothing is known
    of any job. `median_per_s` is what a person would configure a job for. What came before
    `judged_from_s` is left out of the results."""

    name: str
    machines: Machines
    jobs: tuple[Job, ...]
    rates: Mapping[str, Rate]
    seconds: float
    median_per_s: Mapping[str, float]
    starts_s: Mapping[str, float] = field(default_factory=dict)
    blind_s: tuple[float, float] | None = None
    judged_from_s: float = HELD_BACK_S


def latency(threshold_ms: float, priority: float = MAX_UTILITY) -> Objective:
    return Objective(_mean(threshold_ms), None, priority)


def _mean(threshold_ms: float) -> LatencyTarget:
    return LatencyTarget(threshold_ms, Statistic.MEAN, Of.PROCESSED)


def default_job(name: str, topology: Topology, objective: Objective) -> Job:
    return Job(name, topology, objective, {each.name: 1 for each in topology.operators})


def _steady(
    name: str, jobs: Sequence[Job], seconds: float, machines: Machines | None = None
) -> Workload:
    return Workload(
        name,
        machines or Machines(),
        tuple(jobs),
        {job.name: _always(nominal(job.topology)) for job in jobs},
        seconds,
        {job.name: nominal(job.topology) for job in jobs},
    )


def nominal(topology: Topology) -> float:
    """Returns the input that keeps the busiest operator of a topology as busy as PageLoad's."""
    return NOMINAL_PER_S * _busiest(PAGE_LOAD) / _busiest(topology)


def _busiest(topology: Topology) -> float:
    return max(topology.flow[each.name] * each.service_ms for each in topology.operators)


def _always(rate: float) -> Rate:
    return lambda _: rate


def nine_jobs() -> Workload:
    """Figure 9: maximum utilities 10 to 90."""
    jobs = [default_job(f"T{at}", PAGE_LOAD, latency(60.0, 10.0 * at)) for at in range(1, 10)]
    return _steady("nine jobs", jobs, 3600.0)


def hybrid() -> Workload:
    """Figure 10: a latency and a juice, ten times."""
    objective = Objective(_mean(70.0), JuiceTarget(1.0), MAX_UTILITY)
    jobs = [default_job(f"T{at}", PAGE_LOAD, objective) for at in range(1, 11)]
    return _steady("hybrid", jobs, 3600.0)


def word_count() -> Workload:
    """Table 4, without its state: WordCount of 240 and of 60 ms, which the model tells apart by
    their thresholds alone."""
    jobs = [
        default_job(f"T{at}", WORD_COUNT, latency(240.0 if at <= 4 else 60.0)) for at in range(1, 7)
    ]
    return _steady("word count", jobs, 3600.0)


def spike() -> Workload:
    """Figure 11: B doubles from 3600 to 7200 s, then A."""

    def doubled(begins_s: float) -> Rate:
        return lambda at_s: NOMINAL_PER_S * (1 + (begins_s <= at_s < begins_s + 3600))

    return Workload(
        "spike",
        Machines(),
        tuple(default_job(name, PAGE_LOAD, latency(80.0)) for name in "AB"),
        {"A": doubled(7200.0), "B": doubled(3600.0)},
        12_600.0,
        dict.fromkeys("AB", NOMINAL_PER_S),
        judged_from_s=3600.0,
    )


@dataclass(frozen=True)
class Day:
    """`peak` is the input at noon by that at night."""

    peak: float
    ends_h: float


EPA, SDSC = Day(peak=2.8, ends_h=21.0), Day(peak=2.0, ends_h=23.0)
RISES_H, PEAK_H = 7.0, 13 + 1 / 3


def diurnal_rate(day: Day) -> Rate:
    """The night's input is the nominal one."""

    def rate(at_s: float) -> float:
        hour = at_s / TRACE_HOUR_S % 24
        if RISES_H <= hour < PEAK_H:
            up = (1 - cos(pi * (hour - RISES_H) / (PEAK_H - RISES_H))) / 2
        elif PEAK_H <= hour < day.ends_h:
            up = (1 + cos(pi * (hour - PEAK_H) / (day.ends_h - PEAK_H))) / 2
        else:
            up = 0.0
        return NOMINAL_PER_S * (1 + (day.peak - 1) * up)

    return rate


def diurnal() -> Workload:
    """Figure 12: five jobs with each of the two traces, two days, an hour in ten minutes."""
    jobs = tuple(default_job(f"T{at}", PAGE_LOAD, latency(60.0)) for at in range(1, 11))
    epa, sdsc = diurnal_rate(EPA), diurnal_rate(SDSC)
    day_s = range(int(24 * TRACE_HOUR_S))
    rates = {job.name: epa if at < 5 else sdsc for at, job in enumerate(jobs)}
    medians = {rate: median(rate(float(at_s)) for at_s in day_s) for rate in (epa, sdsc)}
    return Workload(
        "diurnal",
        Machines(),
        jobs,
        rates,
        48 * TRACE_HOUR_S,
        {name: medians[rate] for name, rate in rates.items()},
        judged_from_s=0.0,
    )


# Table 3: workers and tasks.
PRODUCTION = {"T1": (234, 1729), "T2": (31, 459), "T3": (8, 100), "T4": (2, 34), "T5": (1, 18)}
# How much of the cluster's cores the mix needs when nothing is lost to contention: the paper calls
# the cluster extremely constrained, and gives no number.
PRODUCTION_LOAD = 0.85
# How far the Twitter workloads (all but T5) go up and down, and how fast.
TWITTER_SWING, TWITTER_PERIOD_S = 0.2, 3600.0


def production() -> Workload:
    """Table 3 and figure 13: inputs in proportion to the workers, threads to the tasks."""
    machines = Machines(count=20)
    workers = sum(each for each, _ in PRODUCTION.values())
    cores = PRODUCTION_LOAD * machines.count * machines.cores
    per_worker = cores / PAGE_LOAD.cores_per_rate / workers
    operators = len(PAGE_LOAD.operators)
    # The smallest job has one thread per operator.
    tasks_per_thread = PRODUCTION["T5"][1] / operators
    jobs = tuple(
        Job(
            name,
            PAGE_LOAD,
            latency(60.0),
            {
                each.name: max(1, round(tasks / tasks_per_thread / operators))
                for each in PAGE_LOAD.operators
            },
        )
        for name, (_, tasks) in PRODUCTION.items()
    )

    def twitter(mean_per_s: float, phase: float) -> Rate:
        return lambda at_s: (
            mean_per_s * (1 + TWITTER_SWING * sin(2 * pi * (at_s / TWITTER_PERIOD_S + phase)))
        )

    means = {name: each * per_worker for name, (each, _) in PRODUCTION.items()}
    rates = {name: twitter(mean, at / 4) for at, (name, mean) in enumerate(means.items())}
    rates["T5"] = _always(means["T5"])
    return Workload("production", machines, jobs, rates, 10_800.0, means)


def failure() -> Workload:
    """Figure 17: from 1020 to 1380 s, in the middle of reconfigurations, nothing is known."""
    jobs = [default_job(f"T{at}", PAGE_LOAD, latency(70.0)) for at in range(1, 10)]
    return replace(_steady("failure", jobs, 5400.0), blind_s=(1020.0, 1380.0))


def growing(between_s: float = 7200.0) -> Workload:
    """Figure 15: 5 jobs, and 20 more each time. On as many machines as the paper's largest cluster,
    because on ten of them 85 jobs of the nominal input could never run."""
    jobs = [default_job(f"T{at}", PAGE_LOAD, latency(70.0)) for at in range(1, 86)]
    starts_s = {
        job.name: between_s * (1 + (at - 5) // 20) for at, job in enumerate(jobs) if at >= 5
    }
    steady = _steady("5 to 85 jobs", jobs, 5 * between_s, Machines(count=40))
    return replace(steady, starts_s=starts_s)


def cluster_size(machines: int) -> Workload:
    """Figure 16: forty jobs of four topologies."""
    kinds = [(PAGE_LOAD, 20), (DIAMOND, 8), (STAR, 6), (LINEAR, 6)]
    jobs = [
        default_job(
            f"{topology.name} {at + 1}",
            topology,
            latency(80.0) if topology is PAGE_LOAD else Objective(None, JuiceTarget(1.0), 5.0),
        )
        for topology, count in kinds
        for at in range(count)
    ]
    return _steady(f"{machines} machines", jobs, 7200.0, Machines(count=machines))


def cost(machines: int, places_per_core: int = Machines.places_per_core) -> Workload:
    """Figure 1: five PageLoad jobs on so many machines."""
    jobs = [default_job(f"T{at}", PAGE_LOAD, latency(60.0)) for at in range(1, 6)]
    cluster = Machines(machines, places_per_core=places_per_core)
    return _steady("cost", jobs, 3600.0, cluster)


def alone(job: Job, machines: int) -> Workload:
    """A job of figure 1 on a cluster of its own."""
    return _steady(job.name, [job], 3600.0, Machines(machines))
