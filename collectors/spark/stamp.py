"""`stamp()`: record-level latency, counted as each record passes."""

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from collectors.spark.conf import EXTENSIONS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

log = logging.getLogger("curtail")


def stamp(column: str) -> "Callable[[DataFrame], DataFrame]":
    """For `DataFrame.transform`, as the last step before `writeStream`.

    Counts now − `column` for every record, and the commit of its micro-batch − `column` once there
    is one. Passes the timestamp on unchanged, under the same name: the sink must write that column,
    or Spark removes it and the count with it.
    """

    def stamped(frame: "DataFrame") -> "DataFrame":
        types = dict(frame.dtypes)
        if column not in types:
            raise ValueError(f"stamp({column!r}): no such column; there are {', '.join(types)}")
        if types[column] != "timestamp":
            raise ValueError(f"stamp({column!r}): a timestamp is needed, this is {types[column]}")
        loaded = frame.sparkSession.conf.get("spark.sql.extensions", "") or ""
        if EXTENSIONS not in loaded.split(","):
            log.warning("curtail: stamp(%r) does nothing, the session is not instrumented", column)
            return frame
        quoted = {name: f"`{name.replace('`', '``')}`" for name in types}
        return frame.selectExpr(
            *(
                f"curtail_record({quoted[name]}) AS {quoted[name]}"
                if name == column
                else quoted[name]
                for name in types
            )
        )

    return stamped
