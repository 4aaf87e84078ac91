"""A job that runs until somebody kills it; says who it is in the file that is its argument."""

import sys
import time
from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession

from techniques.pool import pooled


def slow(batch: pa.RecordBatch) -> pa.RecordBatch:
    time.sleep(0.01)
    return batch


def main(told: Path) -> None:
    spark = (
        SparkSession.Builder()
        .master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    new = told.with_suffix(".new")
    new.write_text(spark.sparkContext.applicationId)
    new.rename(told)
    endless = pooled(slow, "id long", instances=1, chunk_rows=1, name="endless")
    spark.range(10_000_000).transform(endless).write.format("noop").mode("append").save()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
