"""What the pool's benchmark makes of its turns, and what its skew is."""

import time

import numpy as np
import pyarrow as pa
import pytest

from benchmarks import pool
from benchmarks import pool_job as job
from benchmarks.pool_job import PLAIN, POOLED
from benchmarks.ratios import Interval
from dashboard.cli.bench import summaries
from dashboard.cli.root import ROOT


def test_a_rate_is_less_where_a_turn_takes_longer() -> None:
    rounds = [{PLAIN: 1.0, POOLED: 2.0}, {PLAIN: 3.0, POOLED: 6.0}]
    assert pool.pooled_by_plain(rounds).mean == pytest.approx(2.0)
    assert pool.pooled_by_plain(rounds, slower_is_less=True).mean == pytest.approx(0.5)


def test_each_way_begins_every_second_round() -> None:
    assert list(pool.orders(3)) == [(PLAIN, POOLED), (POOLED, PLAIN), (PLAIN, POOLED)]


def test_most_of_the_heavy_chunks_are_in_one_partition() -> None:
    parts = job.skewed_partitions(512)
    assert [len(part) for part in parts] == [128] * 4
    costs_us = sorted((int(cost) for part in parts for cost in part), reverse=True)
    assert job.LEAST_US <= costs_us[-1] < costs_us[0] <= job.MOST_US
    assert costs_us[0] > 10 * costs_us[256]
    heavy_us = costs_us[127]
    assert sum(parts[0] >= heavy_us) > 0.85 * 128
    assert parts[0].sum() > sum(part.sum() for part in parts[1:])


def test_costs_are_the_same_in_every_run() -> None:
    first, second = job.skewed_partitions(64), job.skewed_partitions(64)
    assert all((one == other).all() for one, other in zip(first, second, strict=True))


def test_what_can_be_gained_is_bounded_by_the_longest_partition() -> None:
    costs_us = [np.array(part) * 1_000_000 for part in ([6], [1, 1], [1], [1])]
    assert job.plain_s(costs_us, cores=2) == 6
    assert job.shared_s(costs_us, workers=2) == 5
    assert job.shared_s(costs_us, workers=4) == 2.5


def test_an_operator_pays_what_its_rows_cost() -> None:
    rows = pa.RecordBatch.from_pydict({"id": [0, 1, 2], "cost_us": [4_000, 0, 3_000]})
    began_s, began_cpu_s = time.perf_counter(), time.thread_time()
    assert job.Costly(burn=True)(rows) is rows
    assert time.thread_time() - began_cpu_s >= 0.007
    assert job.Costly(burn=False)(rows) is rows
    assert time.perf_counter() - began_s >= 0.014


def test_ratios_come_with_their_intervals_and_what_they_are_made_of() -> None:
    turns = {PLAIN: [2.0, 2.2], POOLED: [1.0, 1.1]}
    result = {
        **pool.keys("noop_rows_ratio", Interval(0.70049, 0.6, 0.8)),
        **pool.keys("skew_duration_ratio", Interval(0.5, 0.4, 0.6)),
        **pool.keys("skew_cpu_duration_ratio", Interval(0.9, None, None)),
        "skew_best_ratio": 0.4,
        "skew_cpu_best_ratio": 0.8,
        "noop": {"rows_per_s": {PLAIN: 1_000_000, POOLED: 700_000}},
        "skew": {"turns_s": turns, "cpu_turns_s": turns},
    }
    assert result["noop_rows_ratio"] == 0.7
    shown = pool.table(result)
    assert "0.7 (0.6 to 0.8)" in shown
    assert "700,000 rows/s" in shown
    assert "2.10 s" in shown


def test_it_is_listed() -> None:
    assert "pool" in summaries(ROOT / "benchmarks")
    assert "pool_job" not in summaries(ROOT / "benchmarks")
