"""The Spark options that load the probe, for `instrument()` and for `curtail conf`."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from collectors.spark.build import probe_jar, spark_home

PLUGIN = "io.curtail.probe.Plugin"
EXTENSIONS = "io.curtail.probe.Extensions"
LISTENER = "io.curtail.probe.QueryEvents"
CHECKPOINT_FILE_MANAGER = "io.curtail.probe.NioCheckpointFileManager"

DEFAULT_REDIS = "redis://127.0.0.1:6379/0"
REDIS_SCHEMES = ("redis", "rediss", "unix")

# Options that hold a list: ours is added to what the user has, never put in its place.
_LISTED = {
    "spark.plugins": ",",
    "spark.sql.extensions": ",",
    "spark.sql.streaming.streamingQueryListeners": ",",
    "spark.driver.defaultExtraClassPath": os.pathsep,
    "spark.yarn.dist.jars": ",",
}


def spark_options(
    redis: str, job: str | None, existing: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Returns the options to set, given those that are set already."""
    if urlsplit(redis).scheme not in REDIS_SCHEMES:
        raise ValueError(f"redis={redis!r} is not a Redis address such as {DEFAULT_REDIS}")
    jar = str(probe_jar())
    ours = {
        "spark.plugins": PLUGIN,
        "spark.sql.extensions": EXTENSIONS,
        "spark.sql.streaming.streamingQueryListeners": LISTENER,
        # The driver sends the jar to the executors itself (docs/adr/0011). For the driver's own
        # class path: --driver-class-path and --jars are added to these two options, while they
        # replace spark.driver.extraClassPath and spark.jars.
        "spark.driver.defaultExtraClassPath": jar,
        "spark.yarn.dist.jars": jar,
        "spark.curtail.redis.secretUrl": redis,
        "spark.curtail.python": sys.executable,
        "spark.curtail.pythonPath": str(Path(__file__).resolve().parents[2]),
    }
    if job:
        ours["spark.curtail.job"] = job
    for key, separator in _LISTED.items():
        before = [part for part in (existing or {}).get(key, "").split(separator) if part]
        ours[key] = separator.join([*before, *([] if ours[key] in before else [ours[key]])])
    return ours


def spark_submit_options(redis: str, job: str | None) -> list[str]:
    """Returns the arguments to put between `spark-submit` and the script."""
    if job and job.split() != [job]:
        # The shell splits what $(curtail conf) prints at every space, whatever we quote.
        raise ValueError(f"job={job!r}: a name without spaces, please")
    options = spark_options(redis, job, spark_defaults())
    return [word for key, value in options.items() for word in ("--conf", f"{key}={value}")]


def spark_defaults(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Reads conf/spark-defaults.conf; options given elsewhere replace these, even lists."""
    folder = environ.get("SPARK_CONF_DIR") or spark_home(environ) / "conf"
    path = Path(folder, "spark-defaults.conf")
    if not path.is_file():
        return {}
    lines = (line.strip() for line in path.read_text().splitlines())
    pairs = (
        line.replace("=", " ", 1).split(None, 1) for line in lines if line[:1] not in ("", "#")
    )
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2}
