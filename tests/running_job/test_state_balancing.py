"""A slow host of a cluster, from the incident to the click that takes its state away.

It needs the machine to itself: another job beside it is a slow host as well.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from redis import Redis

from collectors.formats import keys
from collectors.formats.activity import Activity, Kind
from collectors.formats.keys import Entry
from dashboard.cli import cluster as spark_cluster
from dashboard.series import activities
from dashboard.testing.cluster import Cluster, host_of
from dashboard.testing.running import Running
from dashboard.testing.stack import Stack, stack
from examples import cluster_counts
from tests.end_to_end.conftest import log_in, switch
from tests.waiting import until

pytestmark = [
    pytest.mark.browser,
    pytest.mark.spark,
    pytest.mark.cluster,
    pytest.mark.quiet,
    pytest.mark.timeout(1200),
]

JOB_ID = keys.job_id(cluster_counts.NAME, cluster_counts.QUERY)
CARD = "#technique-state_balancing"
PATIENCE_S = 300
# Of the time, by stopping its executor. On a busy machine one that was stopped is let run first
# afterwards, which makes up for a part of it.
SHARE = 0.15
# So many batches before one host becomes slow: cold JVMs differ by themselves.
WARM_BATCHES = 15


class OnOneSlowHost:
    """The job on three hosts, one of which becomes slow."""

    def __init__(self, running: Stack, hosts: Cluster) -> None:
        self.stack = running
        self.hosts = hosts
        self.slow_executor = ""
        self._ended: list[Activity] = []
        self._read_up_to = "-"

    def incidents(self) -> set[tuple[str, str]]:
        """Their kinds, each with the technique that it leads to."""
        with closing(sqlite3.connect(self.stack.data_dir / "curtail.sqlite3")) as database:
            asked = "SELECT kind, technique FROM dashboard_incident WHERE job_id = ?"
            return set(database.execute(asked, (JOB_ID,)))

    def batches(self) -> int:
        return len({each.name for each in self.of_kind(Kind.BATCH)})

    def places(self) -> dict[int, str]:
        """The executor that held each state partition last."""
        tasks = [each for each in self.of_kind(Kind.TASK) if each.task and each.task.stateful]
        return {each.partition: each.executor_id for each in tasks if each.partition is not None}

    def of_kind(self, kind: Kind) -> list[Activity]:
        """What ended so far; only what is new is read."""
        client: Any = Redis.from_url(self.stack.redis.url)
        with closing(client):
            told = client.xrange(keys.activities(JOB_ID).key, min=self._read_up_to)
        if told:
            self._read_up_to = f"({told[-1][0].decode()}"
        entries = [Entry(int(at.split(b"-")[0]), fields[keys.PAYLOAD]) for at, fields in told]
        self._ended += activities.read(entries)[0]
        return [each for each in self._ended if each.kind == kind]

    def held(self, executor: str) -> int:
        """The number of state partitions that the executor has."""
        return Counter(self.places().values())[executor]

    def fullest(self) -> str:
        """The executor with the most state. Where Spark puts it at the start is chance, and one
        with hardly any would be in nobody's way however slow it is."""
        return max(self.hosts.executors(), key=self.held)

    def slow(self, executor: str) -> Running:
        host = host_of(self.hosts.executors()[executor])
        (worker,) = (each for each in self.hosts.workers if each.host == host)
        of = ("--work-dir", str(worker.work_dir), "--share", str(SHARE))
        log = self.stack.data_dir / "neighbour.log"
        return Running(spark_cluster.neighbour(self.stack.env, log, *of))


@pytest.fixture(scope="module")
def job(three_hosts: Cluster) -> Iterator[OnOneSlowHost]:
    with ExitStack() as cleanup:
        running = cleanup.enter_context(stack())
        words = ("--master", three_hosts.url, "--hosts", "3")
        cleanup.enter_context(Running(running.job("cluster_counts", *words)))
        started = OnOneSlowHost(running, three_hosts)
        until(lambda: started.batches() >= WARM_BATCHES, timeout_s=PATIENCE_S, every_s=0.5)
        started.slow_executor = started.fullest()
        cleanup.enter_context(started.slow(started.slow_executor))
        yield started


def test_a_slow_host_is_found_and_one_click_takes_state_from_it(
    job: OnOneSlowHost, page: Page
) -> None:
    straggler = ("straggler", "state_balancing")
    until(lambda: straggler in job.incidents(), timeout_s=PATIENCE_S, every_s=0.5)

    log_in(page, job.stack, job.stack.username, job.stack.password)
    page.goto(f"{job.stack.url}/jobs/{JOB_ID}")
    expect(page.locator(CARD)).to_contain_text(
        "Its conditions hold here now", timeout=PATIENCE_S * 1000
    )
    before = job.held(job.slow_executor)

    switch(page, CARD, "act", "one host is slow")
    expect(page.locator(CARD)).to_have_attribute("data-state", "applied", timeout=PATIENCE_S * 1000)
    # Nobody looks meanwhile: a live page takes a share of the cores from the executors.
    page.goto("about:blank")
    until(lambda: job.held(job.slow_executor) < before, timeout_s=PATIENCE_S, every_s=1)
    page.goto(f"{job.stack.url}/jobs/{JOB_ID}")
    # The moves are on the card, and what they did to the percentiles, whatever it is.
    expect(page.locator(f"{CARD} .move").first).to_be_visible(timeout=PATIENCE_S * 1000)
    effect = page.locator(CARD).get_by_role("row", name="p99.9")
    expect(effect).to_contain_text("×", timeout=PATIENCE_S * 1000)
