"""Uses a pool until somebody kills it: python -m tests.techniques.pool.endless APPLICATION."""

import sys
from collections.abc import Iterator

import pyarrow as pa

from techniques.pool.on_spark import made
from techniques.pool.task import through
from tests.techniques.pool import operators

NAME = "endless"


def batches() -> Iterator[pa.RecordBatch]:
    while True:
        yield operators.rows(10, {0: operators.SLEEP})


if __name__ == "__main__":
    for _ in through(sys.argv[1], made(operators.act, instances=1, name=NAME), batches()):
        pass
