"""Word count, the papers' other workload: sentences of 1 to 32 words, split and counted.

sentences ──▶ split ──▶ count by word
"""

import argparse

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from examples import session as example

NAME = "word-count"
LONGEST_SENTENCE = 32


def main() -> int:
    options = arguments().parse_args()
    spark = example.session(NAME, options)
    counted = counts(words(sentences(spark, options)))
    query = example.started(counted, NAME, "words", options, mode="update")
    return example.run(spark, query, options)


def arguments() -> argparse.ArgumentParser:
    parser = example.parser("Word count over sentences of 1 to 32 words.")
    parser.add_argument("--sentences", type=example.positive, default=300, help="per second")
    parser.add_argument("--vocabulary", type=example.positive, default=5000, help="distinct words")
    parser.add_argument("--show", action="store_true", help="print the counts of each batch")
    return parser


def sentences(spark: SparkSession, options: argparse.Namespace) -> DataFrame:
    """Sentences whose length is uniform and whose words follow a skewed distribution."""
    ticks = spark.readStream.format("rate").option("rowsPerSecond", options.sentences).load()
    length = F.pmod(F.xxhash64("value"), F.lit(LONGEST_SENTENCE)) + 1
    return ticks.select(
        F.col("timestamp").alias("event_time"),
        F.array_join(
            F.transform(F.sequence(F.lit(1), length), lambda at: _word(at, options.vocabulary)), " "
        ).alias("sentence"),
    )


def _word(place: Column, vocabulary: int) -> Column:
    # The square of a uniform number: a few words are common, most are rare, as in a language.
    uniform = F.pmod(F.xxhash64(F.col("value"), place), F.lit(1_000_003)) / F.lit(1_000_003)
    return F.format_string("word%d", F.floor(uniform * uniform * F.lit(vocabulary)))


def words(spoken: DataFrame) -> DataFrame:
    return spoken.select("event_time", F.explode(F.split("sentence", " ")).alias("word"))


def counts(spoken: DataFrame) -> DataFrame:
    return spoken.groupBy("word").agg(
        F.count("*").alias("count"), F.max("event_time").alias("event_time")
    )


if __name__ == "__main__":
    raise SystemExit(main())
