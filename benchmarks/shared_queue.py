"""One queue for all instances of an operator (Du & Gupta, Section 3.2): Section 5.1.2 and Figure 3.

`benchmarks.pool_arms` says how arms take turns. One operator with four instances, as the paper's
workers have; arrivals are Poisson; service times are exponential with a mean of 10 ms and are waits
(the paper: 2.2 ms of computing). Both arms of a round have the same arrivals and service times.
Arms: `separate` (a queue per instance, round robin) and `shared`.

The main figures are at the paper's utilisation of 78 %; `utilisations` has the others, for Figure
3.

- `queue_delay_ratio`: the mean time from when a chunk was meant to be sent until an instance began
  to work on it, shared / separate. The way through the ring (`way_ms`, its smallest share seen) is
  a part of it.
- `p90_ratio`, `p99_ratio`, `p999_ratio`: latency, shared / separate.
- `erlang_c_error`: |predicted − seen| / predicted of the shared queue's mean wait, at the rate of
  arrivals, and with the service time per chunk, that were seen.
- `ideal_error`: the same against an ideal queue with the very same arrivals and service times: it
  has no part that is chance.

There are five dispatchers, each with its share of the Poisson arrivals, as the paper's spouts. Each
goes round by itself, so that a queue's arrivals are nearly Poisson. With a single dispatcher every
fourth arrival would be one queue's, which is more even: then separate queues wait less than the
paper's theory (M/M/1) has it, and less is gained (`ideal_ms` has `one_dispatcher` for that).
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks import pool_arms, pool_figures
from benchmarks.ideal_queues import in_turn, separate_waits_s, shared_waits_s
from benchmarks.pool_arms import Arm, Block, Floats, Load, Round, Shape
from benchmarks.ratios import ratio_of
from techniques.pool.on_spark import made
from techniques.pool.plan import Plan
from techniques.pool.policies import BASELINE
from techniques.pool.workload import arrivals
from techniques.pool.workload.heterogeneity import BEGAN, COST, Heterogeneous, Stamped
from techniques.pool.workload.topologies import pass_on
from techniques.shared_queue.erlang import mean_wait

SUMMARY = "one queue for all instances against one each, and Erlang C (Section 5.1.2, Figure 3)"

SEPARATE, SHARED = "separate", "shared"
ARMS = (Arm(SEPARATE, BASELINE), Arm(SHARED, "shared-queue"))
SERVERS = 4
DISPATCHERS = 5
SERVICE_S = 0.010
PAPERS_UTILISATION = 0.78
# At one of 100 % the mean wait would have no bound; what a chunk costs besides its wait adds to it.
UTILISATIONS = (0.5, PAPERS_UTILISATION, 0.9)

# Rates come from the utilisation.
FULL = Shape(0, settle_s=2.0, count_s=14.0, rounds=4)
QUICK = Shape(0, settle_s=1.0, count_s=6.0, rounds=1)

PAPER = {
    "utilisation": 0.78,
    "queue_delay_ms": {SEPARATE: 2.07, SHARED: 0.516},
    "queue_delay_ratio": 0.249,
    "p90_ratio": 0.645,
    "p99_ratio": 0.751,
    "p999_ratio": 0.638,
}


def run(quick: bool) -> Mapping[str, object]:
    load_before = pool_figures.load_now()
    shape = QUICK if quick else FULL
    found: dict[float, dict[str, Any]] = {}
    with Load(planned(), costly, began_column=BEGAN, dispatchers=DISPATCHERS) as load:
        for utilisation in UTILISATIONS:
            print(f"utilisation {utilisation}", file=sys.stderr)
            rate_per_s = utilisation * SERVERS / SERVICE_S
            # The paper's own figures get more rounds than the others.
            more = 2 if utilisation == PAPERS_UTILISATION and not quick else 0
            own = replace(shape, rate_per_s=rate_per_s, rounds=shape.rounds + more)
            found[utilisation] = told(load.rounds(ARMS, own), own)
    main = found[PAPERS_UTILISATION]
    return {
        **{key: main[key] for key in main if "_ratio" in key},
        "erlang_c_error": main["erlang_c_error"],
        "ideal_error": main["ideal_error"],
        "utilisations": {str(each): found[each] for each in UTILISATIONS},
        "servers": SERVERS,
        "dispatchers": DISPATCHERS,
        "service_ms": SERVICE_S * 1000,
        "paper": PAPER,
        "machine": pool_figures.waiting_machine(load_before),
    }


def planned() -> Plan:
    # Stamped outside: the wait ends when the instance turns to the chunk.
    operator = Stamped(Heterogeneous(pass_on))
    return made(operator, instances=SERVERS, name="shared-queue", window=1024)


def service_us(count: int, seed: int) -> Floats:
    # Not the seed of the arrivals, or the two would depend on each other.
    return np.random.default_rng((seed, 1)).exponential(SERVICE_S * 1e6, count).round()


def costly(count: int, seed: int) -> Sequence[pa.RecordBatch]:
    costs = service_us(count, seed).astype(np.int64)
    batch = pa.RecordBatch.from_pydict({"id": np.arange(count), COST: costs})
    return [batch.slice(at, 1) for at in range(count)]


def told(taken: Sequence[Round], shape: Shape) -> dict[str, Any]:
    rounds = pool_figures.undisturbed(taken)
    delays = {arm.name: [mean_delay_ms(each[arm.name]) for each in rounds] for arm in ARMS}
    pairs = list(zip(delays[SHARED], delays[SEPARATE], strict=True))
    service_s = mean_service_s(rounds, SHARED)
    rate_per_s = sum(len(each[SHARED].latency_ms) for each in rounds) / (
        shape.count_s * len(rounds)
    )
    utilisation = rate_per_s * service_s / SERVERS
    seen_ms = float(np.mean(delays[SHARED]))
    predicted_ms = mean_wait(SERVERS, utilisation, service_s) * 1000 if utilisation < 1 else None
    numbers = [number for number, each in enumerate(taken) if any(each is one for one in rounds)]
    ideal = ideal_ms(shape, service_s, numbers)
    return {
        **pool_figures.keys("queue_delay_ratio", ratio_of(pairs)),
        **pool_figures.ratios(rounds, SHARED, SEPARATE),
        "erlang_c_error": error(predicted_ms, seen_ms),
        "ideal_error": error(ideal[SHARED], seen_ms),
        "queue_delay_ms": {name: round(float(np.mean(each)), 3) for name, each in delays.items()},
        "erlang_c_ms": None if predicted_ms is None else round(predicted_ms, 3),
        "ideal_ms": {name: round(each, 3) for name, each in ideal.items()},
        "utilisation_seen": round(utilisation, 3),
        "service_ms_seen": round(service_s * 1000, 3),
        "way_ms": round(min(smallest_ms(each[SHARED]) for each in rounds), 3),
        "levels_ms": pool_figures.levels_ms(rounds),
        **pool_figures.quietness(taken, rounds),
    }


def error(predicted_ms: float | None, seen_ms: float) -> float | None:
    return None if predicted_ms is None else round(abs(predicted_ms - seen_ms) / predicted_ms, 3)


def mean_delay_ms(block: Block) -> float:
    assert block.waited_ms is not None
    return float(block.waited_ms.mean())


def smallest_ms(block: Block) -> float:
    """The delay of a chunk that found an idle instance: p1, as one single smallest is chance."""
    assert block.waited_ms is not None
    return float(np.percentile(block.waited_ms, 1))


def mean_service_s(rounds: Sequence[Round], arm: str) -> float:
    """The time that an instance had for a chunk, its own work on it included."""
    ends = [each[arm].counted for each in rounds]
    busy_ns = sum(last.busy_ns - first.busy_ns for first, last in ends)
    return busy_ns / 1e9 / max(1, sum(last.executed - first.executed for first, last in ends))


def ideal_ms(shape: Shape, service_s: float, numbers: Sequence[int]) -> dict[str, float]:
    """The mean waits of these rounds' own arrivals in ideal queues, whose servers need for a chunk
    what it waits for, and besides that as long as was seen."""
    whole_s = shape.settle_s + shape.count_s
    waits: dict[str, list[float]] = {SEPARATE: [], SHARED: [], "one_dispatcher": []}
    for number in numbers:
        times_s = arrivals.poisson(shape.rate_per_s, whole_s, seed=number)
        asked_s = service_us(len(times_s), number) / 1e6
        work_s = asked_s + max(0.0, service_s - float(asked_s.mean()))
        counted = times_s >= shape.settle_s
        owners = pool_arms.owner_of(len(times_s), DISPATCHERS, number)
        for name, found in (
            (SEPARATE, separate_waits_s(times_s, work_s, in_turn(owners, SERVERS))),
            (SHARED, shared_waits_s(times_s, work_s, SERVERS)),
            (
                "one_dispatcher",
                separate_waits_s(times_s, work_s, in_turn(np.zeros_like(owners), SERVERS)),
            ),
        ):
            waits[name].append(float(found[counted].mean()))
    return {name: float(np.mean(each)) * 1000 for name, each in waits.items()}


def table(result: Mapping[str, Any]) -> str:
    lines = [pool_figures.ratio_head("utilisation", "mean delay, ms: separate → shared, Erlang C")]
    for name, each in result["utilisations"].items():
        delay = each["queue_delay_ms"]
        lines.append(
            pool_figures.ratio_line(
                name, each, f"{delay[SEPARATE]} → {delay[SHARED]}, {each['erlang_c_ms']}"
            )
        )
    lines.append(
        f"queue_delay_ratio {result['queue_delay_ratio']} ({result['queue_delay_ratio_low']} to "
        f"{result['queue_delay_ratio_high']}), erlang_c_error {result['erlang_c_error']}, "
        f"ideal_error {result['ideal_error']}"
    )
    return "\n".join(lines)
