"""`instrument()`: adds the probe to a Spark session."""

import logging
from typing import TYPE_CHECKING

from collectors.spark.build import BuildFault, probe_jar
from collectors.spark.conf import DEFAULT_REDIS, PLUGIN, spark_defaults, spark_options
from collectors.spark.running_jvm import loads, running_jvm, submitted_options

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger("curtail")


def instrument(
    builder: "SparkSession.Builder", redis: str = DEFAULT_REDIS, job: str | None = None
) -> "SparkSession.Builder":
    """Adds Curtail's probe to a session's builder; its queries appear on the dashboard.

    `redis` is where frames go: only the driver needs to reach it. `job` names the application on
    the dashboard (its app name where not given); each query is one job under that name.
    """
    jvm = running_jvm()
    try:
        existing = {
            **spark_defaults(),
            **(submitted_options(jvm) if jvm else {}),
            **{key: str(value) for key, value in builder._options.items()},
        }
        options = spark_options(redis, job, existing)
    except BuildFault as fault:
        return _unseen(builder, str(fault))
    if jvm and not loads(jvm, PLUGIN, str(probe_jar())):
        # If told to load a plugin that it cannot find, Spark would end the application.
        return _unseen(builder, "its JVM runs already and cannot load the probe")
    for key, value in options.items():
        builder = builder.config(key, value)
    return builder


def _unseen(builder: "SparkSession.Builder", why: str) -> "SparkSession.Builder":
    """Warns and returns the builder unchanged: the job must run even if it cannot be observed."""
    log.warning("curtail: this job runs unseen: %s", why)
    return builder
