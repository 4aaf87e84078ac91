"""What `curtail demo --cluster` adds: a Spark cluster of three hosts, one of which becomes slow."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from dashboard.cli import answers, cluster, ports
from dashboard.cli.child import Program
from dashboard.cli.cluster import MASTER_HOST
from dashboard.cli.supervise import Supervisor

JOB = "cluster_counts"
WORKERS = 3
START_S = 90
# As a small cloud machine that has used up its credits, which gets a fifth to a quarter of a core.
SHARE = 0.25
# The job ends before its cluster, and before both the neighbour lets go of its executor.
JOB_STAGE, NEIGHBOUR_STAGE = 2, 3


class DemoCluster:
    def __init__(self, env: Mapping[str, str], data_dir: Path) -> None:
        self._env = env
        self._folder = data_dir / "cluster"
        self._port = ports.any_free(MASTER_HOST)
        self._web_port = ports.any_free(MASTER_HOST)
        self._hosts = cluster.hosts(WORKERS)

    @property
    def words(self) -> tuple[str, ...]:
        """The options of the job that runs on it."""
        return ("--master", cluster.url(self._port), "--hosts", str(WORKERS))

    @property
    def slow_host(self) -> str:
        return self._hosts[-1]

    @property
    def says(self) -> str:
        return (
            f"The job runs on {self._hosts[0]} to {self._hosts[-1]}; once it has warmed up, "
            f"{self.slow_host} gets {SHARE:.0%} of its CPU time."
        )

    async def start(self, supervisor: Supervisor) -> None:
        """Returns when the master knows all workers."""
        self._folder.mkdir()
        await supervisor.start(cluster.master(self._env, self._folder, self._port, self._web_port))
        # A worker that finds no master tries again only after 5 s or more.
        await answers.wait_for(partial(self._has, 0), "Spark's master", START_S)
        for host in self._hosts:
            await supervisor.start(
                cluster.worker(self._env, self._folder, host, cluster.url(self._port))
            )
        await answers.wait_for(partial(self._has, WORKERS), "a Spark worker", START_S)

    def job(self, program: Program) -> Program:
        return replace(program, stage=JOB_STAGE)

    def neighbour(self) -> Program:
        """Makes the last host slow for as long as it runs."""
        of = ("--work-dir", str(cluster.work_dir(self._folder, self.slow_host)))
        log = self._folder / "neighbour.log"
        words = (*of, "--share", str(SHARE))
        return cluster.neighbour(self._env, log, *words, stage=NEIGHBOUR_STAGE)

    async def _has(self, workers: int) -> bool:
        known = await asyncio.to_thread(cluster.registered, self._web_port)
        return known is not None and known >= workers
