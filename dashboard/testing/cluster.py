"""A Spark standalone cluster (`dashboard.cli.cluster`) for the time of a test or a benchmark."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from dashboard.cli import cluster as spark_cluster
from dashboard.cli import ports, sessions
from dashboard.cli.cluster import HOST_VARIABLE, MASTER_HOST
from dashboard.testing.running import Running

__all__ = ["HOST_VARIABLE", "Cluster", "Worker", "cluster", "host_of"]

START_S = 90


@dataclass(frozen=True)
class Worker:
    """`work_dir` is the folder below which its executors work."""

    host: str
    running: Running
    work_dir: Path


@dataclass(frozen=True)
class Cluster:
    url: str
    workers: tuple[Worker, ...]

    @property
    def spark_options(self) -> dict[str, str]:
        return spark_cluster.spark_options(self.url, len(self.workers))

    def executors(self) -> dict[str, int]:
        """Process ids of the living executors by executor id; for one application at a time."""
        found = {}
        for worker in self.workers:
            for pid in sessions.members(worker.running.pid):
                words = _command_line(pid)
                if "--executor-id" in words:
                    found[words[words.index("--executor-id") + 1]] = pid
        return found


def host_of(pid: int) -> str:
    """The host that an executor runs on, by its environment."""
    environ = Path("/proc", str(pid), "environ").read_text().split("\0")
    pairs = (pair.partition("=") for pair in environ)
    return next(value for name, _, value in pairs if name == HOST_VARIABLE)


@contextmanager
def cluster(workers: int = 3) -> Iterator[Cluster]:
    """Yields once every worker is registered; ends every process it started."""
    with ExitStack() as cleanup:
        folder = Path(
            cleanup.enter_context(
                tempfile.TemporaryDirectory(prefix="curtail-cluster-", ignore_cleanup_errors=True)
            )
        )
        port, web_port = ports.any_free(MASTER_HOST), ports.any_free(MASTER_HOST)
        url = spark_cluster.url(port)
        master = Running(spark_cluster.master(os.environ, folder, port, web_port))
        cleanup.callback(master.end)
        # A worker that finds no master tries again only after 5 s or more.
        master.wait_until(lambda: spark_cluster.registered(web_port) is not None, START_S)
        started = []
        for host in spark_cluster.hosts(workers):
            running = Running(spark_cluster.worker(os.environ, folder, host, url))
            cleanup.callback(running.end)
            started.append(Worker(host, running, spark_cluster.work_dir(folder, host)))
        master.wait_until(lambda: spark_cluster.registered(web_port) == workers, START_S)
        yield Cluster(url, tuple(started))


def _command_line(pid: int) -> list[str]:
    with suppress(OSError):
        return Path("/proc", str(pid), "cmdline").read_text().split("\0")
    return []
