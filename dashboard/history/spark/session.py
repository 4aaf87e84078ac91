"""The Spark session of the history's jobs: small where it is local, and with our code where not."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from dashboard.history.spark import code_archive

LOCAL = "local[1]"
# The JVM only hands out tasks; the work is done in Python. The quick compiler starts sooner.
_SMALL_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


@contextmanager
def session(name: str, master: str) -> Iterator[SparkSession]:
    # Executors on this machine take this Python: the one on the PATH may not have our packages.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.Builder().master(master).appName(name)
    builder = builder.config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    if master.startswith("local"):
        builder = builder.config("spark.driver.memory", "512m")
        builder = builder.config("spark.driver.extraJavaOptions", _SMALL_JVM)
        builder = builder.config("spark.driver.host", "127.0.0.1")
        builder = builder.config("spark.driver.bindAddress", "127.0.0.1")
    with tempfile.TemporaryDirectory(prefix="curtail-") as folder:
        spark = builder.getOrCreate()
        try:
            spark.sparkContext.setLogLevel("ERROR")
            spark.sparkContext.addPyFile(str(code_archive.write(Path(folder) / "curtail.zip")))
            yield spark
        finally:
            spark.stop()
