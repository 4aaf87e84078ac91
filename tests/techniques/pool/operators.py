"""Operators for tests, that do what their rows say: one pool serves many tests."""

import os
import signal
import sys
import time
from pathlib import Path

import pyarrow as pa

from techniques.pool.plan import INSTANCE_VARIABLE

# What a row of `act` asks for.
NOTHING, RAISE, EXIT, DIE_ONCE, SLEEP, BE_LARGE, NO_BATCH, AWAIT = range(8)
LARGE_BYTES = 8_000_000
SLEEP_S = 0.004


class OddError(Exception):
    """The user's own, which is not there where Spark's driver runs."""


def rows(count: int, asked: dict[int, int] | None = None, note: str = "") -> pa.RecordBatch:
    ids = list(range(count))
    return pa.RecordBatch.from_pydict(
        {
            "id": ids,
            "asked": [(asked or {}).get(one, NOTHING) for one in ids],
            "note": [note] * count,
        }
    )


def act(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Adds `twice` and `by`; does first what the rows ask for."""
    notes = batch.column("note").to_pylist()
    for row, asked in enumerate(batch.column("asked").to_pylist()):
        if asked == RAISE:
            deeper(notes[row])
        elif asked == EXIT:
            os._exit(9)
        elif asked == DIE_ONCE:
            died = Path(notes[row])
            if not died.exists():
                died.touch()
                os.kill(os.getpid(), signal.SIGKILL)
        elif asked == SLEEP:
            time.sleep(SLEEP_S)
        elif asked == AWAIT:
            while not Path(notes[row]).exists():
                time.sleep(SLEEP_S)
        elif asked == NO_BATCH:
            return batch.to_pylist()
    ids = batch.column("id").to_pylist()
    large = BE_LARGE in batch.column("asked").to_pylist()
    by = "x" * LARGE_BYTES if large else os.environ.get(INSTANCE_VARIABLE, "")
    made = batch.append_column("twice", pa.array([2 * one for one in ids], pa.int64()))
    return made.append_column("by", pa.array([by] * len(ids), pa.string()))


def deeper(note: str) -> None:
    raise OddError(f"no such luck: {note}")


def add_one(batch: pa.RecordBatch) -> pa.RecordBatch:
    made = pa.array([one + 1 for one in batch.column("twice").to_pylist()], pa.int64())
    return batch.set_column(batch.schema.get_field_index("twice"), "twice", made)


class Broken:
    """Cannot be loaded on an instance."""

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        return batch

    def __reduce__(self) -> tuple[object, tuple[str, ...]]:
        return load, ("the model is not there",)


def load(why: str) -> Broken:
    raise OSError(why)


class Warmed:
    """Knows how often it was warmed up in its process; prints its notes."""

    def __init__(self) -> None:
        self.times = 0

    def warm_up(self) -> None:
        self.times += 1

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        for note in batch.column("note").to_pylist():
            print(note)
            print(note, file=sys.stderr)
        return batch.append_column("warmed", pa.array([self.times] * batch.num_rows, pa.int64()))
