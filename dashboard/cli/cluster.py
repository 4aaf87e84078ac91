"""A Spark standalone cluster on this machine: every worker is a host of its own, 127.0.0.x.

These are its programs, for the demo's supervisor and for the harness of tests and benchmarks.
Speculation, lost executors and state that moves need more than one host; `local` and
`local-cluster` have only one.
"""

import json
import sys
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from dashboard.cli import programs
from dashboard.cli.child import Program

MASTER_HOST = "127.0.0.1"
# The variable by which a task knows on which host it runs.
HOST_VARIABLE = "CURTAIL_TEST_HOST"
DAEMON_MB = 128
# Spark refuses executors of less than 450 MB.
EXECUTOR_MB = 512
# Master and workers do little: the optimising JIT would only take cores from the job.
DAEMON_JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def hosts(workers: int) -> list[str]:
    return [f"127.0.0.{number}" for number in range(2, workers + 2)]


def url(port: int) -> str:
    return f"spark://{MASTER_HOST}:{port}"


def spark_options(master_url: str, workers: int) -> dict[str, str]:
    """Spark options for a driver on this machine: one executor with one core on every host."""
    return {
        "spark.master": master_url,
        "spark.driver.host": MASTER_HOST,
        "spark.driver.bindAddress": MASTER_HOST,
        "spark.executor.cores": "1",
        "spark.executor.memory": f"{EXECUTOR_MB}m",
        "spark.pyspark.python": sys.executable,
        # Wait for all executors, or the first batches would run on one host alone.
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.scheduler.maxRegisteredResourcesWaitingTime": "120s",
        "spark.cores.max": str(workers),
    }


def master(env: Mapping[str, str], folder: Path, port: int, web_port: int) -> Program:
    where = ("--host", MASTER_HOST, "--port", str(port), "--webui-port", str(web_port))
    return _daemon(
        "master", "org.apache.spark.deploy.master.Master", *where, env=env, folder=folder
    )


def worker(env: Mapping[str, str], folder: Path, host: str, master_url: str) -> Program:
    where = ("--host", host, "--port", "0", "--webui-port", "0")
    size = ("--cores", "1", "--memory", f"{EXECUTOR_MB}m")
    work = ("--work-dir", str(work_dir(folder, host)))
    main = "org.apache.spark.deploy.worker.Worker"
    words = (*where, *size, *work, master_url)
    return _daemon(f"worker-{host}", main, *words, env=env, folder=folder, host=host)


def work_dir(folder: Path, host: str) -> Path:
    """The folder below which the executors of this host have their working folders."""
    return folder / f"work-{host}"


def neighbour(env: Mapping[str, str], log: Path, *words: str, stage: int = 1) -> Program:
    """Slows executors of the cluster for as long as it runs; `words` say which and how."""
    argv = (sys.executable, "-m", "examples.noisy_neighbour", *words)
    return Program("neighbour", argv, env, log, stage=stage)


def registered(web_port: int) -> int | None:
    """How many workers the master knows; None while it does not answer."""
    with suppress(OSError, ValueError):
        page = urllib.request.urlopen(f"http://{MASTER_HOST}:{web_port}/json/", timeout=5)
        with page as response:
            states = [worker["state"] for worker in json.load(response)["workers"]]
        return states.count("ALIVE")
    return None


def _daemon(
    name: str,
    main_class: str,
    *words: str,
    env: Mapping[str, str],
    folder: Path,
    host: str = MASTER_HOST,
) -> Program:
    home = _spark_home()
    extended = programs.environ(
        env,
        SPARK_HOME=str(home),
        # Ignore the developer's own cluster configuration.
        SPARK_CONF_DIR=str(folder),
        SPARK_LOCAL_DIRS=str(folder / "local"),
        # The demo sets it for its driver; a worker's address is the one on its command line.
        SPARK_LOCAL_IP=host,
        SPARK_DAEMON_MEMORY=f"{DAEMON_MB}m",
        SPARK_DAEMON_JAVA_OPTS=DAEMON_JAVA_OPTIONS,
        # Its executors inherit it.
        **{HOST_VARIABLE: host},
        **programs.same_python(),
    )
    argv = (str(home / "bin" / "spark-class"), main_class, *words)
    return Program(name, argv, extended, folder / f"{name}.log")


def _spark_home() -> Path:
    """The folder of the PySpark package, found without importing it."""
    found = find_spec("pyspark")
    if found is None or found.origin is None:
        raise FileNotFoundError("PySpark is not installed")
    return Path(found.origin).parent
