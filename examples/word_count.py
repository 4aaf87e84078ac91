"""Word count, the papers' other workload: sentences of 1 to 32 words, split and counted.

    sentences ──▶ split ──▶ count by word

With `--skew 50`, half of all words are one and the same, and the job looks for words that were not
heard before. Spark combines counts before the shuffle, so a heavy word costs them little; here
every row goes to its word's partition, and one partition has most of the work wherever it runs.
"""

import argparse

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from collectors import watch_keys
from examples import session as example

NAME = "word-count"
LONGEST_SENTENCE = 32
HEAVY_WORD = "the"


def main() -> int:
    options = arguments().parse_args()
    spark = example.session(NAME, options)
    spoken = words(sentences(spark, options))
    found = first_heard(spoken) if options.skew else counts(spoken)
    mode = "append" if options.skew else "update"
    query = example.started(found, NAME, "words", options, mode=mode)
    return example.run(spark, query, options)


def arguments() -> argparse.ArgumentParser:
    parser = example.parser("Word count over sentences of 1 to 32 words.")
    parser.add_argument("--sentences", type=example.positive, default=300, help="per second")
    parser.add_argument("--vocabulary", type=example.positive, default=5000, help="distinct words")
    parser.add_argument(
        "--skew",
        type=percent,
        default=0,
        help="percent of the words that are the same; if any, new words are found, not counted",
    )
    parser.add_argument("--show", action="store_true", help="print the counts of each batch")
    return parser


def sentences(spark: SparkSession, options: argparse.Namespace) -> DataFrame:
    """Sentences whose length is uniform and whose words follow a skewed distribution."""
    ticks = spark.readStream.format("rate").option("rowsPerSecond", options.sentences).load()
    length = F.pmod(F.xxhash64("value"), F.lit(LONGEST_SENTENCE)) + 1
    return ticks.select(
        F.col("timestamp").alias("event_time"),
        F.array_join(
            F.transform(F.sequence(F.lit(1), length), lambda at: _word(at, options)), " "
        ).alias("sentence"),
    )


def _word(place: Column, options: argparse.Namespace) -> Column:
    # The square of a uniform number: a few words are common, most are rare, as in a language.
    uniform = F.pmod(F.xxhash64(F.col("value"), place), F.lit(1_000_003)) / F.lit(1_000_003)
    word = F.format_string("word%d", F.floor(uniform * uniform * F.lit(options.vocabulary)))
    if not options.skew:
        return word
    one_of_100 = F.pmod(F.xxhash64(place, F.col("value")), F.lit(100))
    return F.when(one_of_100 < options.skew, F.lit(HEAVY_WORD)).otherwise(word)


def words(spoken: DataFrame) -> DataFrame:
    return spoken.select("event_time", F.explode(F.split("sentence", " ")).alias("word"))


def counts(spoken: DataFrame) -> DataFrame:
    return spoken.groupBy("word").agg(
        F.count("*").alias("count"), F.max("event_time").alias("event_time")
    )


def first_heard(spoken: DataFrame) -> DataFrame:
    """Every word once, when it was heard first."""
    return spoken.transform(watch_keys("word")).dropDuplicates(["word"])


def percent(text: str) -> int:
    value = int(text)
    if not 0 <= value <= 100:
        raise argparse.ArgumentTypeError(f"{text} is no percentage")
    return value


if __name__ == "__main__":
    raise SystemExit(main())
