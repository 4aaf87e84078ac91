"""A real query whose rows mostly have one key: the rule names its partition and the key."""

from collections.abc import Callable, Iterator

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from collectors import watch_keys
from collectors.formats import keys
from dashboard.store.redis import RedisStore
from dashboard.testing.stack import RedisServer
from dashboard.worker import loop
from dashboard.worker.histories import Histories
from examples.session import ROCKSDB, stop_between_batches
from techniques.detection.finding import Finding
from techniques.detection.rules import skewed_partition
from techniques.detection.skew_advice import SALT_THE_KEY
from tests.collectors.conftest import spark_session
from tests.waiting import until

pytestmark = pytest.mark.spark

JOB = "tests.lopsided"
PARTITIONS = 4
# A run warms up for up to a minute, and what it does meanwhile is in no view.
PATIENCE_S = 240


@pytest.fixture(scope="module")
def spark(module_redis: RedisServer) -> Iterator[SparkSession]:
    options = {
        "spark.sql.shuffle.partitions": str(PARTITIONS),
        "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
    }
    with spark_session(module_redis.url, **options) as session:
        yield session


def test_a_skewed_query_is_found_with_its_partition_and_its_heavy_key(
    spark: SparkSession, module_redis: RedisServer, checkpoint: Callable[[str], str]
) -> None:
    folder = checkpoint("lopsided")
    rare = (F.col("value") % 1_000).cast("string")
    word = F.when(F.col("value") % 4 > 0, F.lit("the")).otherwise(rare)
    query = (
        spark.readStream.format("rate-micro-batch")
        .option("rowsPerBatch", 40_000)
        .option("numPartitions", 2)
        .load()
        .select(word.alias("word"))
        .transform(watch_keys("word"))
        # Unlike a count it is not combined before the shuffle: the partition gets every row.
        .dropDuplicates(["word"])
        .writeStream.queryName("lopsided")
        .format("noop")
        .option("checkpointLocation", folder)
        .trigger(processingTime="1 second")
        .start()
    )
    store, histories = RedisStore(module_redis.url), Histories(skewed_partition.READS)

    def found() -> Finding | None:
        histories.read(store, [JOB], loop.run(store.newest_ms(keys.frames(JOB))))
        view = histories.view(JOB)
        finding = next(iter(skewed_partition.find(view)), None) if view else None
        return finding if finding and finding.first == SALT_THE_KEY else None

    until(lambda: query.lastProgress, timeout_s=60)
    finding = until(found, PATIENCE_S, every_s=0.5)
    stop_between_batches(query)
    loop.run(store.close())
    state = spark.read.format("statestore").load(folder)
    (home,) = state.where("key.word = 'the'").select("partition_id").distinct().collect()

    assert finding is not None
    assert finding.title.startswith(f"Partition {home.partition_id} takes ")
    facts = {each.name: each.value for each in finding.evidence}
    assert facts["slow on"] == "executor driver"
    assert facts["heavy key word = the"].startswith("at least 7")
