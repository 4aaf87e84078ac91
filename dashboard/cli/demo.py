"""`curtail demo`: everything on this machine, in a temporary folder that goes away with it."""

import argparse
import os
import tempfile
from collections.abc import Mapping
from functools import partial
from itertools import pairwise
from pathlib import Path

from dashboard.cli import answers, ports, programs
from dashboard.cli.child import Program
from dashboard.cli.demo_cluster import JOB, DemoCluster
from dashboard.cli.say import say
from dashboard.cli.supervise import Failed, Supervisor
from dashboard.cli.supervise import run as supervise

PORT = 8000
HOST = "127.0.0.1"
ANSWER_S = 60
JOBS = ("traffic_jam", "word_count", "enrichment")
# The throughput of a common cloud volume: there, uploading compacted files makes the latency tail.
DISK = ("--disk-mb-s", "125")
# Different intervals, so that one job's periodic work does not coincide with the other's.
WORDS: dict[str, tuple[str, ...]] = {
    "traffic_jam": DISK,
    "word_count": ("--interval-ms", "2700"),
    # A service so slow that chunks wait at some instances while others are idle.
    "enrichment": (
        *("--interval-ms", "1900", "--rate", "40"),
        *("--instances", "4", "--median-ms", "15"),
    ),
}
# What the techniques on operator pools are for, planted in the enrichment job.
POOL: dict[str, tuple[str, ...]] = {
    # Three times slower is what it can just keep up with: with more, batches grow for ever.
    "slow-instance": ("--slow-instance", "1", "--slow-times", "3"),
    "hang": ("--hang",),
}
CALM: dict[str, tuple[str, ...]] = {"traffic_jam": ("--setting", "calm", *DISK)}
# Two JVMs that warm up at the same time starve each other and the server on a small machine, so
# each job waits until the one before is steady: a minute at most once its query has started, and
# before that a JVM takes its time. One that is still not steady does not hold up the others.
STEADY_WITHIN_S = 100


def run(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="curtail demo", description=__doc__)
    parser.add_argument("--port", type=int, default=PORT, help="preferred port (%(default)s)")
    parser.add_argument("--no-jobs", action="store_true", help="without the example Spark jobs")
    parser.add_argument(
        "--calm", action="store_true", help="the traffic jam job without its ShadowSync"
    )
    parser.add_argument(
        "--pool", choices=sorted(POOL), help="trouble for the enrichment job's operator pool"
    )
    parser.add_argument(
        "--cluster",
        action="store_true",
        help="one job instead, on a Spark cluster of three hosts, one of them slow",
    )
    options = parser.parse_args(argv)
    if options.cluster and (options.no_jobs or options.calm or options.pool):
        parser.error("--cluster runs one job of its own: leave out --no-jobs, --calm and --pool")
    port = ports.prefer(options.port, HOST)
    if port != options.port:
        say(f"port {options.port} is in use; taking {port}")
    # Spark may still be writing a last file while the folder is emptied.
    with tempfile.TemporaryDirectory(prefix="curtail-demo-", ignore_cleanup_errors=True) as folder:
        jobs = () if options.no_jobs else in_turn(options.pool)
        demo = Demo(Path(folder), port, jobs, words(options.calm, options.pool), options.cluster)
        return supervise(demo.carry_out)


def in_turn(pool: str | None) -> tuple[str, ...]:
    """Returns the example jobs in the order that they start: the one that somebody asked trouble
    for is first, as each waits for the one before."""
    return ("enrichment", *(job for job in JOBS if job != "enrichment")) if pool else JOBS


def words(calm: bool, pool: str | None) -> dict[str, tuple[str, ...]]:
    """Returns the options of each example job."""
    enrichment = WORDS["enrichment"] + POOL.get(pool or "", ())
    return WORDS | (CALM if calm else {}) | {"enrichment": enrichment}


class Demo:
    def __init__(
        self,
        data_dir: Path,
        port: int,
        jobs: tuple[str, ...],
        words: Mapping[str, tuple[str, ...]],
        on_cluster: bool = False,
    ) -> None:
        self._data_dir = data_dir
        self._port = port
        self._jobs = (JOB,) if on_cluster else jobs
        self._words = words
        self._redis_port = ports.any_free(HOST)
        self._env = programs.environ(
            os.environ,
            CURTAIL_DATA_DIR=str(data_dir),
            CURTAIL_ALLOWED_HOSTS="localhost,127.0.0.1,[::1]",
            REDIS_URL=f"redis://{HOST}:{self._redis_port}/0",
            DATABASE_URL=f"sqlite:///{data_dir}/curtail.sqlite3",
            SPARK_LOCAL_IP=HOST,
            SPARK_LOCAL_DIRS=str(data_dir / "spark"),
            **programs.same_python(),
        )
        self._cluster = DemoCluster(self._env, data_dir) if on_cluster else None

    async def carry_out(self, supervisor: Supervisor) -> None:
        env, data_dir = self._env, self._data_dir
        await supervisor.start(programs.redis(env, self._redis_port, data_dir))
        await supervisor.finish(programs.manage(env, "migrate", "--no-input", "--verbosity", "0"))
        await answers.wait_for(
            partial(answers.redis, HOST, self._redis_port), "redis-server", ANSWER_S
        )
        if self._jobs:
            # The jobs would build it too, each waiting for the first.
            await supervisor.finish(programs.probe(env))
        if self._cluster:
            await self._cluster.start(supervisor)
        await supervisor.start(programs.server(env, HOST, self._port, data_dir / "server.log"))
        await supervisor.start(programs.worker(env, data_dir, data_dir / "worker.log"))
        # A JVM takes longest to get going, so the first one starts beside the server.
        for name in self._jobs[:1]:
            await supervisor.start(self._job(name))
        password = _password(await supervisor.finish(programs.manage(env, "ensure_operator")))
        await answers.wait_for(partial(answers.http, HOST, self._port), "the server", ANSWER_S)
        print(self._welcome(password), flush=True)
        await self._start_in_turn(supervisor)

    async def _start_in_turn(self, supervisor: Supervisor) -> None:
        # Imported here: `--help` must work before anything (the Redis client too) is installed.
        from dashboard.cli import steady
        from dashboard.store.redis import RedisStore

        store = RedisStore(self._env["REDIS_URL"])
        try:
            for before, name in pairwise(self._jobs):
                if not await steady.wait_for(store, _application(before), STEADY_WITHIN_S):
                    say(f"{before} is not steady after {STEADY_WITHIN_S} s; {name} starts anyway")
                await supervisor.start(self._job(name))
            if self._cluster:
                # Beside the warm-up, nobody could tell its slowness from a cold JVM's.
                await steady.wait_for(store, _application(JOB), STEADY_WITHIN_S)
                await supervisor.start(self._cluster.neighbour())
                say(f"{self._cluster.slow_host} is slow from now on")
        finally:
            await store.close()

    def _job(self, name: str) -> Program:
        made = partial(programs.job, self._env, name, self._data_dir)
        if self._cluster:
            return self._cluster.job(made(*self._cluster.words))
        return made(*self._words.get(name, ()))

    def _welcome(self, password: str) -> str:
        jobs = "No jobs, as asked."
        if self._jobs:
            jobs = f"Jobs start one after the other: {', '.join(self._jobs)}."
        if self._cluster:
            jobs = self._cluster.says
        return "\n".join(
            [
                "",
                f"  Curtail    http://{HOST}:{self._port}/",
                "  login      operator",
                f"  password   {password}",
                "",
                f"  {jobs} Logs: {self._data_dir}",
                "  Ctrl-C stops everything.",
                "",
            ]
        )


def _application(job: str) -> str:
    """The Spark application name of the example job."""
    return job.replace("_", "-")


def _password(lines: list[str]) -> str:
    for line in lines:
        key, _, value = line.partition(":")
        if key == "password":
            return value.strip()
    raise Failed(f"ensure_operator gave no password: {lines!r}")
