"""An executor is killed while its tasks have chunks in a pool: each row comes out once.

All loopback hosts are one machine, so both executors share one pool: it lives on with the other.
"""

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from dashboard.cli import programs
from dashboard.cli.child import Program
from dashboard.cli.root import ROOT
from dashboard.testing.cluster import Cluster, cluster
from dashboard.testing.running import Running
from techniques.pool import control
from techniques.pool.host.identity import parent_of
from techniques.pool.page import Page
from techniques.pool.page_words import InstanceWord, SlotWord
from tests.cluster import pooled_job as job
from tests.waiting import until

pytestmark = [pytest.mark.cluster, pytest.mark.spark, pytest.mark.own_jvm]

# Beside other tests five JVMs need their time.
PATIENCE_S = 180
CHUNKS_BEFORE = 30


@pytest.fixture(scope="module")
def two_hosts() -> Iterator[Cluster]:
    with cluster(workers=2) as running:
        yield running


def test_a_killed_executor_neither_loses_nor_doubles_a_row(
    two_hosts: Cluster, tmp_path: Path
) -> None:
    job.write_input(tmp_path / "in")
    out = tmp_path / "out"
    out.mkdir()
    with Running(program(two_hosts, tmp_path / "in", out)) as driver:
        pool = until(lambda: running_pool(driver, out), PATIENCE_S)
        assert pool is not None
        page = pool.page()
        try:
            until(lambda: executed(page) >= CHUNKS_BEFORE, PATIENCE_S, 0.005)
            executors = {*two_hosts.executors().values()}
            found_at_work = until(lambda: at_work(page, executors), PATIENCE_S, 0.001)
            assert found_at_work is not None
            slot, victim = found_at_work
            holder = page.holder(slot)
            os.kill(victim, signal.SIGKILL)
            # Its Python worker ends with it, and its place in the pool is free again. If the other
            # executor has had no task yet, the pool was the killed one's alone, and ends.
            until(lambda: page.holder(slot) != holder or not os.path.exists(pool.where), PATIENCE_S)
        finally:
            page.close()
        assert driver.wait(PATIENCE_S) == 0, driver.said(60)
    found = [row for path in out.glob("batch-*.json") for row in json.loads(path.read_text())]
    plain = job.tripled(pa.RecordBatch.from_pydict({"id": pa.array(range(job.ROWS), pa.int64())}))
    assert sorted(found) == [[*row.values()] for row in plain.to_pylist()]
    # The pool ended with the last of its executors, and left nothing behind.
    application = json.loads((out / job.APPLICATION).read_text())
    until(lambda: control.running(application, job.NAME) is None, PATIENCE_S)
    until(lambda: not os.path.exists(pool.where), PATIENCE_S)


def program(two_hosts: Cluster, numbers: Path, out: Path) -> Program:
    # Executors start in folders of their own.
    conf = {**two_hosts.spark_options, "spark.executorEnv.PYTHONPATH": str(ROOT)}
    words = ("--conf", json.dumps(conf), "--read", str(numbers), "--out", str(out))
    env = programs.environ(os.environ, **programs.same_python())
    return Program("pooled", (sys.executable, "-m", job.__name__, *words), env, out / "driver.log")


def running_pool(driver: Running, out: Path) -> control.RunningPool | None:
    assert driver.lives, driver.said(60)
    told = out / job.APPLICATION
    return control.running(json.loads(told.read_text()), job.NAME) if told.exists() else None


def executed(page: Page) -> int:
    return sum(
        page.words[page.instance(one, InstanceWord.EXECUTED)] for one in range(page.instances)
    )


def at_work(page: Page, executors: set[int]) -> tuple[int, int] | None:
    """A task that has chunks in the pool, by its slot, and the executor whose task it is."""
    for slot in page.holders():
        if page.words[page.slot(slot, SlotWord.CHUNKS)]:
            pid = page.holder(slot).pid
            while pid > 1 and pid not in executors:
                pid = parent_of(pid)
            if pid in executors:
                return slot, pid
    return None
