"""A job as a user submits it with `spark-submit`; it counts by key until its folder has `stop`.

With an address of Redis it instruments itself, in a JVM that runs already. Without one it knows
Curtail only by `stamp`.
"""

import sys
import time
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from collectors import instrument, stamp

NAME = "submitted"
QUERY = "counts"
STOP = "stop"


def main(out: Path, redis: str | None) -> None:
    builder = SparkSession.Builder().appName(NAME)
    if redis:
        builder = instrument(builder, redis=redis, job=NAME)
    spark = builder.getOrCreate()

    def put_out(changed: DataFrame, batch_id: int) -> None:
        (out / f"batch-{batch_id}").write_text(str(changed.count()))

    query = (
        spark.readStream.format("rate-micro-batch")
        .option("rowsPerBatch", 1000)
        .option("numPartitions", 2)
        .load()
        .groupBy((F.col("value") % 10).alias("key"))
        .agg(F.max("timestamp").alias("event_time"))
        .transform(stamp("event_time"))
        .writeStream.queryName(QUERY)
        .outputMode("update")
        .foreachBatch(put_out)
        .option("checkpointLocation", str(out / "checkpoint"))
        .trigger(processingTime="500 milliseconds")
        .start()
    )
    while query.isActive and not (out / STOP).exists():
        time.sleep(0.1)
    failure = query.exception()
    query.stop()
    spark.stop()
    if failure:
        raise failure


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None)
