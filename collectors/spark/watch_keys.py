"""`watch_keys()`: which keys are heavy, and to which state partitions they go."""

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from collectors.spark.conf import EXTENSIONS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

log = logging.getLogger("curtail")


def watch_keys(*columns: str) -> "Callable[[DataFrame], DataFrame]":
    """For `DataFrame.transform`, right before a `groupBy` or a join on the same columns.

    Counts the keys of one row in 16, so that an incident can say which keys make a partition slow.
    Columns and rows pass unchanged. Name the columns in the order of the `groupBy`: the partition
    depends on it. Keys leave the job as text of at most 64 characters, so do not watch columns
    that nobody who sees the dashboard or gets its alerts may read.
    """
    if not columns:
        raise ValueError("watch_keys(): name the columns of the key")

    def watched(frame: "DataFrame") -> "DataFrame":
        types = dict(frame.dtypes)
        for column in columns:
            if column not in types:
                known = ", ".join(types)
                raise ValueError(f"watch_keys({column!r}): no such column; there are {known}")
            if "map<" in types[column]:
                raise ValueError(f"watch_keys({column!r}): Spark cannot hash {types[column]}")
        loaded = frame.sparkSession.conf.get("spark.sql.extensions", "") or ""
        if EXTENSIONS not in loaded.split(","):
            named = ", ".join(columns)
            log.warning(
                "curtail: watch_keys(%s) does nothing, the session is not instrumented", named
            )
            return frame
        quoted = (f"`{column.replace('`', '``')}`" for column in columns)
        return frame.where(f"curtail_watch_keys({', '.join(quoted)})")

    return watched
