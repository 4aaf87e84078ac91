"""The Scala and the Python side of each format, held together."""

import pytest
from pyspark.sql import SparkSession

from collectors.formats import buckets
from collectors.formats.parts import decode
from tests.collectors.conftest import probe
from tests.collectors.formats.test_parts import GOLDEN, PART

pytestmark = pytest.mark.spark

EDGES = [2**power + step for power in range(33) for step in (-1, 0, 1)]


@pytest.mark.parametrize(
    ("name", "scale"), [("Buckets", buckets.ORDINARY), ("FineBuckets", buckets.FINE)]
)
def test_both_sides_put_every_latency_into_the_same_bucket(
    spark: SparkSession, name: str, scale: buckets.Scale
) -> None:
    scala = getattr(probe(spark), name)
    assert scala.Count() == scale.buckets
    for latency_us in [-7, *EDGES, 12_345, 999_999, buckets.MAX_US, buckets.MAX_US + 1]:
        assert scala.index(latency_us) == scale.index_of(latency_us), latency_us


def test_the_probe_writes_the_golden_part(spark: SparkSession) -> None:
    gateway = spark.sparkContext._gateway
    assert gateway
    histogram = PART.latencies[0].histogram.counts
    indexes = gateway.new_array(gateway.jvm.int, len(histogram))
    counts = gateway.new_array(gateway.jvm.int, len(histogram))
    for at, (index, count) in enumerate(sorted(histogram.items())):
        indexes[at], counts[at] = index, count
    written = bytes(probe(spark).Part.sample(PART.latencies[0].query_id, indexes, counts))
    assert written.hex() == GOLDEN.hex()
    assert decode(written) == PART
