"""A real Spark standalone cluster on this machine: every worker is a host of its own, 127.0.0.x.

Speculation, lost executors and state that moves need more than one host; `local` and
`local-cluster` have only one.
"""

import json
import os
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pyspark

from dashboard.cli import ports, programs, sessions
from dashboard.cli.child import Program
from dashboard.testing.running import Running

MASTER_HOST = "127.0.0.1"
START_S = 90
# The variable by which a task knows on which host it runs.
HOST_VARIABLE = "CURTAIL_TEST_HOST"
DAEMON_MB = 128
# Spark refuses executors of less than 450 MB.
EXECUTOR_MB = 512
# Master and workers do little: the optimising JIT would only take cores from the tests.
DAEMON_JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


@dataclass(frozen=True)
class Worker:
    host: str
    running: Running


@dataclass(frozen=True)
class Cluster:
    url: str
    workers: tuple[Worker, ...]

    @property
    def spark_options(self) -> dict[str, str]:
        """Spark options for a driver on this machine: one executor with one core on every host."""
        return {
            "spark.master": self.url,
            "spark.driver.host": MASTER_HOST,
            "spark.driver.bindAddress": MASTER_HOST,
            "spark.executor.cores": "1",
            "spark.executor.memory": f"{EXECUTOR_MB}m",
            "spark.pyspark.python": sys.executable,
            # Wait for all executors, or the first batches would run on one host alone.
            "spark.scheduler.minRegisteredResourcesRatio": "1.0",
            "spark.cores.max": str(len(self.workers)),
        }

    def executors(self) -> dict[str, int]:
        """Process ids of the living executors by executor id; for one application at a time."""
        found = {}
        for worker in self.workers:
            for pid in sessions.members(worker.running.pid):
                words = _command_line(pid)
                if "--executor-id" in words:
                    found[words[words.index("--executor-id") + 1]] = pid
        return found


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
        url = f"spark://{MASTER_HOST}:{port}"
        master = Running(_master(folder, port, web_port))
        cleanup.callback(master.end)
        # A worker that finds no master tries again only after 5 s or more.
        master.wait_until(lambda: _registered(web_port) is not None, START_S)
        started = []
        for host in (f"127.0.0.{number}" for number in range(2, workers + 2)):
            running = Running(_worker(folder, host, url))
            cleanup.callback(running.end)
            started.append(Worker(host, running))
        master.wait_until(lambda: _registered(web_port) == workers, START_S)
        yield Cluster(url, tuple(started))


def _master(folder: Path, port: int, web_port: int) -> Program:
    where = ("--host", MASTER_HOST, "--port", str(port), "--webui-port", str(web_port))
    return _daemon("master", "org.apache.spark.deploy.master.Master", *where, folder=folder)


def _worker(folder: Path, host: str, master_url: str) -> Program:
    where = ("--host", host, "--port", "0", "--webui-port", "0")
    size = ("--cores", "1", "--memory", f"{EXECUTOR_MB}m")
    work = ("--work-dir", str(folder / f"work-{host}"))
    name = f"worker-{host}"
    main = "org.apache.spark.deploy.worker.Worker"
    return _daemon(name, main, *where, *size, *work, master_url, folder=folder, host=host)


def _daemon(
    name: str, main_class: str, *words: str, folder: Path, host: str = MASTER_HOST
) -> Program:
    home = Path(pyspark.__file__).parent
    env = programs.environ(
        os.environ,
        SPARK_HOME=str(home),
        # Ignore the developer's own cluster configuration.
        SPARK_CONF_DIR=str(folder),
        SPARK_LOCAL_DIRS=str(folder / "local"),
        SPARK_DAEMON_MEMORY=f"{DAEMON_MB}m",
        SPARK_DAEMON_JAVA_OPTS=DAEMON_JAVA_OPTIONS,
        # Its executors inherit it.
        **{HOST_VARIABLE: host},
        **programs.same_python(),
    )
    argv = (str(home / "bin" / "spark-class"), main_class, *words)
    return Program(name, argv, env, folder / f"{name}.log")


def _registered(web_port: int) -> int | None:
    """How many workers the master knows; None while it does not answer."""
    with suppress(OSError, ValueError):
        page = urllib.request.urlopen(f"http://{MASTER_HOST}:{web_port}/json/", timeout=5)
        with page as response:
            states = [worker["state"] for worker in json.load(response)["workers"]]
        return states.count("ALIVE")
    return None


def _command_line(pid: int) -> list[str]:
    with suppress(OSError):
        return Path("/proc", str(pid), "cmdline").read_text().split("\0")
    return []
