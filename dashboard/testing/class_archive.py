"""An archive of Spark's classes, so that the JVMs that tests start are up in half the time.

The JVM maps what is in such a file (class-data sharing) instead of reading, checking and linking
some ten thousand classes from jars again. It is made once per Spark and Java, from what a small
streaming query loads, and lies in the user's cache folder. It fits JVMs whose class path begins as
that query's did: with the probe, as in every session that Curtail looks at. Others ignore it.
`python -m dashboard.testing.class_archive FILE` is the query whose classes are kept.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from collectors.spark.build import probe_jar
from dashboard.cli.programs import same_python

BATCHES = 3
PATIENCE_S = 300
# The JVM says on standard output, which Spark's launcher reads, that an archive does not fit.
SILENT = "-Xlog:cds=off -Xlog:cds+dynamic=off"
# The optimising compiler takes more CPU than it saves in a JVM that lives for a minute.
SHORT_LIVED = "-XX:TieredStopAtLevel=1"


def jvm_options(archive: Path) -> str:
    """For `JDK_JAVA_OPTIONS`: what every JVM that is started below here gets."""
    return f"-XX:SharedArchiveFile={archive} {SILENT}"


def class_archive(cache: Path | None = None) -> Path | None:
    """The archive, made if this is the first time; None where it cannot be made."""
    folder = cache or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "curtail"
    folder.mkdir(parents=True, exist_ok=True)
    archive = folder / f"spark-classes-{_fingerprint()}.jsa"
    if archive.exists():
        return archive
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        made = Path(scratch) / "made.jsa"
        words = [sys.executable, "-m", __name__, str(made)]
        try:
            # The JVM, too, has these pipes, so this waits until it has written the archive.
            done = subprocess.run(
                words, capture_output=True, timeout=PATIENCE_S, env={**os.environ, **same_python()}
            )
        except subprocess.TimeoutExpired:
            return None
        if done.returncode or not made.exists():
            return None
        made.replace(archive)  # whole or not at all
    return archive


def _fingerprint() -> str:
    """The JVM compares the class path by its text, so the folder belongs to the name."""
    import pyspark

    java = shutil.which("java", path=_java_path())
    version = subprocess.run([java or "java", "-version"], capture_output=True).stderr
    text = f"{probe_jar()} {pyspark.__version__} {pyspark.__file__} {java}".encode() + version
    return hashlib.sha256(text).hexdigest()[:16]


def _java_path() -> str | None:
    home = os.environ.get("JAVA_HOME")
    return f"{home}/bin" if home else None


def _query(archive: str) -> None:
    """Loads what most tests load: a stateful query, its store, and a Python worker's."""
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as F

    options = {
        "spark.driver.extraJavaOptions": f"-XX:ArchiveClassesAtExit={archive} {SILENT}",
        "spark.driver.extraClassPath": str(probe_jar()),
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.streaming.stateStore.providerClass": (
            "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
        ),
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in options.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    twice = F.udf(lambda value: value * 2, "long")
    rows = spark.readStream.format("rate").option("rowsPerSecond", 100).load()
    counts = rows.withColumn("twice", twice("value")).groupBy("twice").count()
    query = counts.writeStream.outputMode("update").format("noop").start()
    while len(query.recentProgress) < BATCHES and query.isActive:
        time.sleep(0.2)
    query.stop()
    spark.stop()


if __name__ == "__main__":
    _query(sys.argv[1])
