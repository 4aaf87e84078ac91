"""A Spark session whose parts are written down as they come, in the collector's place."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pyspark.sql import SparkSession

from collectors.formats.metrics import METRICS
from tests.collectors.conftest import spark_session
from tests.collectors.message_recorder import MessageRecorder

NAMES = {metric.id: metric.name for metric in METRICS}


class MetricsRecorder(MessageRecorder):
    def metrics(self, first: int, last: int) -> list[Mapping[str, int]]:
        """By name, of every window from `first` to `last`; none while one of them is missing."""
        found = {part.window: part.metrics for part in self.parts()}
        if not all(window in found for window in range(first, last + 1)):
            return []
        return [
            {NAMES[id]: value for id, value in found[window].items() if id in NAMES}
            for window in range(first, last + 1)
        ]


@contextmanager
def recorded_spark(recorder: MetricsRecorder) -> Iterator[SparkSession]:
    with spark_session("redis://127.0.0.1:1/0", **recorder.options) as session:
        yield session


def jvm(spark: SparkSession) -> Any:
    """The JVM as py4j sees it."""
    return spark.sparkContext._jvm
