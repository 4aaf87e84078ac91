"""Curtail in a Spark application: `instrument` a session, `stamp` a stream, `watch_keys` of it.

from collectors import instrument, stamp

spark = instrument(SparkSession.builder.appName("orders"), redis="redis://…").getOrCreate()
scored.transform(stamp("event_time")).writeStream…
"""

from collectors.spark.session import instrument
from collectors.spark.stamp import stamp
from collectors.spark.watch_keys import watch_keys

__all__ = ["instrument", "stamp", "watch_keys"]
