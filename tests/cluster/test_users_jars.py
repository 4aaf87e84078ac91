"""The probe on executors of a real cluster, whatever jars and plugins the user brings.

Spark ends an executor that cannot load a plugin, so a probe that is missing there would end the
job. Either it arrives, or the job runs unseen.
"""

import os
import shutil
import signal
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark
import pytest

from collectors.formats import keys
from collectors.formats.wire import Frame
from collectors.spark.build import probe_jar
from collectors.spark.conf import spark_submit_options
from dashboard.cli import programs
from dashboard.cli.child import Program
from dashboard.cli.root import ROOT
from dashboard.testing.cluster import Cluster, cluster
from dashboard.testing.running import Running
from dashboard.testing.stack import RedisServer
from tests.cluster import orders, submitted_job
from tests.collectors.conftest import SHORT_LIVED
from tests.collectors.frames import arrived, arrived_when
from tests.waiting import until

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.spark,
    pytest.mark.own_jvm,
    pytest.mark.timeout(1200),
]

# One executor shows it: it is a JVM on another host than the driver's, and so would others be.
HOSTS = {"127.0.0.2"}
BATCHES = 3
# Beside other tests each of these JVMs needs its time.
PATIENCE_S = 300
JOB_ID = keys.job_id(submitted_job.NAME, submitted_job.QUERY)


@pytest.fixture(scope="module")
def one_host() -> Iterator[Cluster]:
    with cluster(workers=1) as running:
        yield running


@pytest.fixture
def users_conf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder where Spark looks for the user's defaults: a plugin and a jar of their own."""
    folder = tmp_path / "conf"
    folder.mkdir()
    (folder / "spark-defaults.conf").write_text(
        f"spark.plugins {orders.NEIGHBOUR}\nspark.jars {orders.neighbour_jar()}\n"
    )
    monkeypatch.setenv("SPARK_CONF_DIR", str(folder))
    return folder


@contextmanager
def submitted(
    cluster: Cluster, out: Path, *options: str, redis: str = "", **env: str
) -> Iterator[Running]:
    out.mkdir()
    conf = {
        **cluster.spark_options,
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.extraJavaOptions": SHORT_LIVED,
        "spark.executor.extraJavaOptions": SHORT_LIVED,
    }
    words = [word for key, value in conf.items() for word in ("--conf", f"{key}={value}")]
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    script = (str(submitted_job.__file__), str(out), *([redis] if redis else []))
    argv = (str(submit), *words, *options, *script)
    program = Program(
        out.name,
        argv,
        programs.environ(os.environ, PYTHONPATH=str(ROOT), **programs.same_python(), **env),
        out / "driver.log",
    )
    with Running(program) as running:
        yield running


def completes_batches(running: Running, out: Path, more: int = BATCHES) -> None:
    def done() -> int:
        return len(list(out.glob("batch-*")))

    enough = done() + more
    until(lambda: done() >= enough or not running.lives, PATIENCE_S, every_s=0.1)
    assert running.lives, running.said(60)


def ends_well(running: Running, out: Path) -> None:
    (out / submitted_job.STOP).touch()
    assert running.wait(PATIENCE_S) == 0, running.said(60)


def hosts(frames: list[Frame]) -> set[str]:
    return {sample.host for frame in frames for sample in frame.executors} & HOSTS


def test_jars_plugins_and_class_path_of_the_users_own_take_nothing_from_us(
    one_host: Cluster, redis: RedisServer, users_conf: Path, tmp_path: Path
) -> None:
    out = tmp_path / "job"
    theirs = str(orders.neighbour_jar())
    with submitted(
        one_host,
        out,
        *spark_submit_options(redis.url, submitted_job.NAME),
        # Each of the two replaces the option of the same meaning.
        *("--jars", theirs, "--driver-class-path", theirs),
    ) as running:
        completes_batches(running, out)
        arrived_when(redis, JOB_ID, lambda seen: hosts(seen) == HOSTS, PATIENCE_S)
        arrived_when(redis, JOB_ID, lambda seen: any(frame.stamped for frame in seen), PATIENCE_S)
        ends_well(running, out)


def test_a_job_that_instruments_itself_keeps_its_probe_when_the_jar_is_gone(
    one_host: Cluster, redis: RedisServer, tmp_path: Path
) -> None:
    cache = tmp_path / "cache" / "curtail"
    cache.mkdir(parents=True)
    jar = Path(shutil.copy(probe_jar(), cache))
    out = tmp_path / "job"
    with submitted(
        one_host,
        out,
        *("--jars", str(orders.neighbour_jar())),
        redis=redis.url,
        XDG_CACHE_HOME=str(cache.parent),
    ) as running:
        completes_batches(running, out)
        arrived_when(redis, JOB_ID, lambda seen: hosts(seen) == HOSTS, PATIENCE_S)
        jar.unlink()
        killed, pid = sorted(one_host.executors().items())[0]
        os.kill(pid, signal.SIGKILL)
        before = set(one_host.executors()) | {killed}

        def told_of(frames: list[Frame]) -> bool:
            ids = {s.executor_id for frame in frames for s in frame.executors if s.host in HOSTS}
            return bool(ids - before)

        arrived_when(redis, JOB_ID, told_of, timeout_s=PATIENCE_S)
        completes_batches(running, out)
        ends_well(running, out)


def test_a_probe_that_cannot_be_sent_to_executors_leaves_the_job_unseen(
    one_host: Cluster, redis: RedisServer, users_conf: Path, tmp_path: Path
) -> None:
    # Classes of a folder are loaded by the driver like those of a jar; Spark sends jars only.
    classes = tmp_path / "classes"
    with zipfile.ZipFile(probe_jar()) as jar:
        jar.extractall(classes)
    options = [
        word.replace(str(probe_jar()), str(classes))
        for word in spark_submit_options(redis.url, submitted_job.NAME)
    ]
    out = tmp_path / "job"
    with submitted(one_host, out, *options) as running:
        completes_batches(running, out)
        assert "runs unseen" in (out / "driver.log").read_text()
        ends_well(running, out)
    assert not arrived(redis, JOB_ID)
