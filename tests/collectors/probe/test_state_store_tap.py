"""The tap on Spark's state stores: it hears everything, and the job is as it was without it."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from collectors.formats.activity import Kind
from collectors.process.events.state_store import Finished
from collectors.spark.build import probe_jar
from collectors.spark.conf import CHECKPOINT_FILE_MANAGER, spark_options
from tests.collectors.conftest import SHORT_LIVED, probe, spark_session
from tests.collectors.query_input import Folder
from tests.collectors.state_store_recorder import StateStoreRecorder
from tests.collectors.stateful_job import PARTITIONS, PROVIDERS, Outcome, run
from tests.waiting import until

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

NO_REDIS = "redis://127.0.0.1:1/0"
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
CHANGELOGS = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
KINDS = ["count", "pandas"]

LOG_CONFIGURATION = """
rootLogger.level = info
rootLogger.appenderRef.file.ref = file
appender.file.type = File
appender.file.name = file
appender.file.fileName = {log}
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %p | %c | %enc{{%m}}{{CRLF}}%n
"""


def files() -> dict[str, str]:
    """Of the probe nothing runs without it but what writes checkpoints, the same in all jobs:
    Spark's own forks a process or two for every file."""
    jar = str(probe_jar())
    return {
        "spark.jars": jar,
        "spark.driver.extraClassPath": jar,
        "spark.sql.streaming.checkpointFileManagerClass": CHECKPOINT_FILE_MANAGER,
    }


def of(found: list[Finished], kind: Kind) -> list[Finished]:
    return [each for each in found if each.activity.kind == kind]


# ── in a session with the probe ──────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> StateStoreRecorder:
    return StateStoreRecorder(tmp_path_factory.mktemp("kept"))


@pytest.fixture(scope="module")
def tapped(kept: StateStoreRecorder) -> Iterator[SparkSession]:
    with spark_session(NO_REDIS, **kept.options) as session:
        yield session


def run_all(
    spark: SparkSession, provider: str, folder: Folder, kept: StateStoreRecorder
) -> Outcome:
    """A query over six micro-batches, and what the probe said of it up to its last commit."""
    spark.conf.set(PROVIDER, f"{PROVIDERS}{provider}")
    folder.add(files=6)
    outcome = run(spark, provider, "count", str(folder.path))
    until(
        lambda: len(of(kept.finished(outcome.run_id), Kind.COMMIT)) == outcome.batches * PARTITIONS,
        timeout_s=60,
    )
    return outcome


def test_flushes_and_compactions_are_those_that_rocksdb_counts_itself(
    tapped: SparkSession, kept: StateStoreRecorder, tmp_path: Path
) -> None:
    outcome = run_all(tapped, "RocksDBStateStoreProvider", Folder(tmp_path / "rocks"), kept)
    found = kept.finished(outcome.run_id)
    flushes, compactions = of(found, Kind.FLUSH), of(found, Kind.COMPACTION)
    assert outcome.batches == 6
    assert len(flushes) == outcome.batches * PARTITIONS
    flushed = sum(each.activity.output_bytes or 0 for each in flushes)
    # RocksDB's number has the note of the new file in its manifest as well.
    manifest = outcome.metrics["rocksdbTotalBytesWrittenByFlush"] - flushed
    assert 0 <= manifest <= 300 * len(flushes)
    # The fourth file of level 0 sets one off, in each partition.
    assert len(compactions) == PARTITIONS
    written = sum(each.activity.output_bytes or 0 for each in compactions)
    assert written == outcome.metrics["rocksdbTotalBytesWrittenByCompaction"]
    # It counts what it reads from disk; blocks still in memory are not.
    read = sum(each.activity.input_bytes or 0 for each in compactions)
    assert 0 <= outcome.metrics["rocksdbTotalBytesReadByCompaction"] <= read
    assert {each.activity.reason for each in compactions} == {"LevelL0FilesNum"}
    assert len(of(found, Kind.SNAPSHOT)) == outcome.batches * PARTITIONS
    assert {each.activity.partition for each in found} == set(range(PARTITIONS))


@pytest.mark.parametrize("changelogs", [False, True])
def test_the_sizes_of_stores_are_about_what_their_state_takes(
    tapped: SparkSession, kept: StateStoreRecorder, tmp_path: Path, changelogs: bool
) -> None:
    """With changelogs nothing is flushed: it is all in memory."""
    tapped.conf.set(PROVIDER, f"{PROVIDERS}RocksDBStateStoreProvider")
    tapped.conf.set(CHANGELOGS, str(changelogs).lower())
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.txt").write_text("\n".join(map(str, range(10_000))))
    query = (
        tapped.readStream.text(str(tmp_path / "in"))
        .groupBy("value")
        .agg(F.max(F.sha2("value", 512)))
        .writeStream.outputMode("update")
        .format("noop")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .start()
    )
    held_bytes = 10_000 * 128
    until(lambda: all_hold(sizes(kept, query.runId), held_bytes / 2), timeout_s=60)
    query.stop()
    tapped.conf.unset(CHANGELOGS)
    told = sizes(kept, query.runId)
    assert sum(told.values()) < 4 * held_bytes
    # Keys are spread evenly.
    assert max(told.values()) < 2 * min(told.values())


def all_hold(told: dict[int | None, int], all_bytes: float) -> bool:
    """Whether every partition is told of, each with its part of so many bytes at least."""
    return told.keys() == set(range(PARTITIONS)) and min(told.values()) > all_bytes / PARTITIONS


def sizes(kept: StateStoreRecorder, run_id: str) -> dict[int | None, int]:
    """The live bytes of each partition, as told last."""
    told = [each.activity for each in of(kept.finished(run_id), Kind.STATE)]
    return {each.partition: each.input_bytes or 0 for each in told}


def test_a_flush_lies_within_the_commit_that_asked_for_it(
    tapped: SparkSession, kept: StateStoreRecorder, tmp_path: Path
) -> None:
    outcome = run_all(tapped, "RocksDBStateStoreProvider", Folder(tmp_path / "within"), kept)
    found = kept.finished(outcome.run_id)
    flushes = of(found, Kind.FLUSH)
    assert len(flushes) == outcome.batches * PARTITIONS
    for flush in flushes:
        assert any(
            commit.store == flush.store
            # The end of a flush is said after its waiters were woken; two clocks are read.
            and commit.activity.start_us - 5_000 <= flush.activity.start_us
            and flush.activity.start_us <= commit.activity.end_us
            for commit in of(found, Kind.COMMIT)
        )


def test_the_provider_in_memory_commits_and_never_flushes(
    tapped: SparkSession, kept: StateStoreRecorder, tmp_path: Path
) -> None:
    outcome = run_all(tapped, "HDFSBackedStateStoreProvider", Folder(tmp_path / "memory"), kept)
    kinds = Counter(each.activity.kind for each in kept.finished(outcome.run_id))
    assert kinds == {Kind.COMMIT: outcome.batches * PARTITIONS}


def log4j(spark: SparkSession) -> Any:
    jvm: Any = spark.sparkContext._jvm
    loader = jvm.java.lang.ClassLoader.getSystemClassLoader()
    return jvm.org.apache.logging.log4j.LogManager.getContext(loader, False)


def taps(spark: SparkSession) -> list[Any]:
    found = log4j(spark).getConfiguration().getFilter()
    several = found is not None and found.getClass().getSimpleName() == "CompositeFilter"
    each = list(found.getFiltersArray()) if several else [found] if found is not None else []
    return [one for one in each if one.getClass().getSimpleName() == "StateStoreFilter"]


def test_other_loggers_answer_as_ever(tapped: SparkSession) -> None:
    tapped.sparkContext.setLogLevel("WARN")
    jvm: Any = tapped.sparkContext._jvm
    for name in ("org.apache.spark.sql.execution.streaming.state.StateStore", "a", "x" * 300):
        logger = jvm.org.slf4j.LoggerFactory.getLogger(name)
        assert logger.isWarnEnabled()
        assert not logger.isInfoEnabled()
        assert not logger.isDebugEnabled()


def test_it_stands_beside_another_filter_and_goes_for_good(tapped: SparkSession) -> None:
    (first,) = taps(tapped)
    second = probe(tapped).StateStoreTap()
    second.install()
    second.sample()
    assert [each.equals(first) for each in taps(tapped)] == [True, False]
    second.remove()
    second.sample()
    assert [each.equals(first) for each in taps(tapped)] == [True]


def test_whoever_configures_the_log_anew_does_not_lose_us(tapped: SparkSession) -> None:
    (before,) = taps(tapped)
    log4j(tapped).reconfigure()
    until(lambda: [each.equals(before) for each in taps(tapped)] == [True])


# ── three jobs over the same checkpoints: without the probe, with it, without it ─────────────────


@dataclass(frozen=True)
class Done:
    """One process: what its queries gave, and what its log says of state stores."""

    outcomes: dict[str, Outcome]
    log: list[tuple[str, str, str]]


def job(folder: Path, queries: dict[str, Folder], options: dict[str, str]) -> Done:
    folder.mkdir()
    log = folder / "log"
    configuration = folder / "log4j2.properties"
    configuration.write_text(LOG_CONFIGURATION.format(log=log))
    java_options = f"{SHORT_LIVED} -Dlog4j2.configurationFile={configuration.as_uri()}"
    asked = {
        "queries": [
            {"name": name, "kind": name.split("-")[0], "folder": str(where.path)}
            for name, where in queries.items()
        ],
        "options": {**files(), **options, "spark.driver.extraJavaOptions": java_options},
    }
    done = subprocess.run(
        [sys.executable, "-m", "tests.collectors.stateful_job", json.dumps(asked)],
        capture_output=True,
        text=True,
        env=os.environ | {"PYSPARK_PYTHON": sys.executable},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    outcomes = [Outcome(**json.loads(line)) for line in done.stdout.splitlines() if line[:1] == "{"]
    lines = [line.split(" | ", 2) for line in log.read_text().splitlines()]
    return Done(
        {each.name: each for each in outcomes},
        [(level, name, text) for level, name, text in lines if name.startswith(PROVIDERS)],
    )


@dataclass(frozen=True)
class Story:
    before: Done  # without the probe
    during: Done  # with it
    after: Done  # without it again
    folders: dict[str, Folder]
    kept: StateStoreRecorder


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    """Queries `…-old` begin without the probe, go on with it and then without it; `…-new` begin
    with it: so what a query says at its beginning and when it goes on is in both logs."""
    path = tmp_path_factory.mktemp("story")
    folders = {
        f"{kind}-{age}": Folder(path / f"{kind}-{age}") for age in ("old", "new") for kind in KINDS
    }
    old = {name: each for name, each in folders.items() if name.endswith("old")}
    kept = StateStoreRecorder(path)
    for each in old.values():
        each.add(files=2)
    before = job(path / "before", old, {})
    for each in folders.values():
        each.add(files=2)
    during = job(path / "during", folders, spark_options(NO_REDIS, "story") | kept.options)
    for each in folders.values():
        each.add(files=1)
    after = job(path / "after", folders, {})
    return Story(before, during, after, folders, kept)


def normal(text: str) -> str:
    """Without what differs between any two runs: ids, paths, numbers, and how many files."""
    text = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "ID", text)
    text = re.sub(r"@[0-9a-f]+\b", "@HASH", text)
    text = re.sub(r"(file:)?/[^\s,;:)]+", "PATH", text)
    text = re.sub(r"-?\d+(\.\d+)?(E-?\d+)?", "N", text)
    return re.sub(r"\w*Map\(.*\)$", "MAP", text)


def said(*jobs: Done) -> set[tuple[str, str, str]]:
    return {(level, normal(name), normal(text)) for each in jobs for level, name, text in each.log}


def test_the_log_says_the_same_as_without_the_probe(story: Story) -> None:
    assert said(story.during) == said(story.before, story.after)
    assert {level for level, _, _ in story.during.log} <= {"INFO", "WARN", "ERROR"}
    opened = [text for _, _, text in story.during.log if "native logging level" in text]
    assert set(opened) == {"Set RocksDB native logging level to INFO_LEVEL"}


@pytest.mark.parametrize("kind", ["count", "pandas"])
def test_a_checkpoint_made_without_the_probe_is_collected_with_it(story: Story, kind: str) -> None:
    outcome = story.during.outcomes[f"{kind}-old"]
    expected = dict.fromkeys((Kind.COMMIT, Kind.FLUSH, Kind.SNAPSHOT), 2 * PARTITIONS)
    until(lambda: kinds(story, outcome) == expected)


@pytest.mark.parametrize("kind", ["count", "pandas"])
def test_results_are_exact_across_jobs_with_and_without_the_probe(story: Story, kind: str) -> None:
    for age in ("old", "new"):
        name = f"{kind}-{age}"
        assert story.after.outcomes[name].batches == 1
        assert story.after.outcomes[name].counts == story.folders[name].counts()


def kinds(story: Story, outcome: Outcome) -> dict[Kind, int]:
    found = Counter(each.activity.kind for each in story.kept.finished(outcome.run_id))
    for beside in (Kind.COMPACTION, Kind.STATE):
        found.pop(beside, None)
    return dict(found)
