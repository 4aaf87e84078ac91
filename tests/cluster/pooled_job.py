"""A streaming job with a pooled operator, over files of numbers, that ends when all are read.

A program of its own, so that its cluster can be hurt meanwhile. Every batch writes the rows it put
out to a file of its own.
"""

import argparse
import json
import time
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from techniques.pool import pooled
from tests.cluster.job import JAVA_OPTIONS
from tests.cluster.orders import write

NAME = "tripled"
SCHEMA = "id long, tripled long"
FILES, FILES_PER_BATCH, ROWS_PER_FILE = 8, 4, 500
ROWS = FILES * ROWS_PER_FILE
CHUNK_ROWS = 10
APPLICATION = "application"


def tripled(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Slow enough that somebody can be killed in the middle."""
    time.sleep(0.01)
    ids = batch.column("id").to_pylist()
    return batch.append_column("tripled", pa.array([3 * one for one in ids], pa.int64()))


def write_input(folder: Path) -> None:
    folder.mkdir()
    for number in range(FILES):
        ids = range(number * ROWS_PER_FILE, (number + 1) * ROWS_PER_FILE)
        lines = (json.dumps({"id": one}) for one in ids)
        (folder / f"{number}.json").write_text("\n".join(lines))


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--read", type=Path, required=True)
    parser.add_argument("--conf", type=json.loads, required=True)
    options = parser.parse_args()
    spark = session(options.conf)
    write(options.out / APPLICATION, spark.sparkContext.applicationId)
    numbers = (
        spark.readStream.schema("id long")
        .option("maxFilesPerTrigger", FILES_PER_BATCH)
        .json(str(options.read))
    )

    def put_out(rows: DataFrame, batch_id: int) -> None:
        found = [[row["id"], row["tripled"]] for row in rows.collect()]
        write(options.out / f"batch-{batch_id}.json", found)

    query = (
        numbers.transform(pooled(tripled, SCHEMA, instances=2, chunk_rows=CHUNK_ROWS, name=NAME))
        .writeStream.foreachBatch(put_out)
        .option("checkpointLocation", str(options.out / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    spark.stop()
    return 0


def session(conf: dict[str, str]) -> SparkSession:
    builder = (
        SparkSession.Builder()
        .appName(NAME)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.extraJavaOptions", JAVA_OPTIONS)
        .config("spark.executor.extraJavaOptions", JAVA_OPTIONS)
    )
    for key, value in conf.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    return spark


if __name__ == "__main__":
    raise SystemExit(main())
