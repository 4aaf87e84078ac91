"""What helps against a skewed partition. All of it changes the job, so none of it is a technique of
ours: a lever cannot change by which key a running query keeps its state."""

from techniques.model import Advice

WATCH_THE_KEYS = Advice(
    title="Let the job name its heavy keys",
    why=(
        "One heavy key needs salting; many keys in one partition need more partitions. Curtail "
        "cannot tell which it is until the job watches its keys: put this right before the groupBy "
        "or join, with the same columns."
    ),
    line='.transform(watch_keys("user_id"))',
    price=(
        "a restart (from the same checkpoint), about 25 ns of CPU a row, and that everybody who "
        "sees this page or gets its alerts can read the heaviest keys"
    ),
)

SALT_THE_KEY = Advice(
    title="Salt the key",
    why=(
        "All rows of one key go to one partition, however many partitions there are. With a salt "
        "beside the key they go to several, and a second aggregation adds up the salts. In a join, "
        "the other side is copied once per salt."
    ),
    line='.withColumn("salt", F.pmod(F.hash("event_id"), F.lit(8))).groupBy("user_id", "salt")',
    price=("a second stage, and a new checkpoint, because the key of the state changes"),
)

MORE_PARTITIONS = Advice(
    title="Spread the keys over more state partitions",
    why=(
        "No single key is heavy here: too many of them share this partition. The checkpoint fixes "
        "the number of state partitions, whatever spark.sql.shuffle.partitions says after a "
        "restart. Since Spark 4.2 it can be changed offline, for RocksDB state stores."
    ),
    line="spark._streamingCheckpointManager.repartition(checkpoint, partitions)",
    price=(
        "the query stands still meanwhile, and this call of Spark's is experimental (its property "
        "still begins with an underscore): keep a copy of the checkpoint. Before Spark 4.2 it "
        "takes a new checkpoint with a larger spark.sql.shuffle.partitions"
    ),
)
