"""`instrument()`: a Spark session that is seen."""

import logging
from typing import TYPE_CHECKING

from collectors.spark.build import BuildFault
from collectors.spark.conf import DEFAULT_REDIS, spark_defaults, spark_options

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
    existing = {**spark_defaults(), **{k: str(v) for k, v in builder._options.items()}}
    try:
        options = spark_options(redis, job, existing)
    except BuildFault as fault:
        # A dashboard is missing then, not the user's job.
        log.warning("curtail: this job runs unseen: %s", fault)
        return builder
    for key, value in options.items():
        builder = builder.config(key, value)
    return builder
