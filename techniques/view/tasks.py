"""Tasks with what Spark's scheduler knows of them, by column."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from techniques.intervals import Floats, Ints, Objects

Bools = NDArray[np.bool_]


class Locality(IntEnum):
    """Spark's `TaskLocality`, by its ordinals."""

    UNKNOWN = -1
    PROCESS_LOCAL = 0
    NODE_LOCAL = 1
    NO_PREF = 2
    RACK_LOCAL = 3
    ANY = 4


@dataclass(frozen=True, eq=False)
class Tasks:
    """Tasks in the order of their ends; with more than 200 a second, only the slowest of each
    window.

    `kind` is the place of the task's stage among the stages of its batch: the same stage of every
    batch has the same. `waited_ms` is the time from the submission of the stage to the task's
    launch. `stateful` tasks use a state store, `result` tasks write to the sink. Unknown numbers
    are -1, an unknown wait is NaN."""

    start_ms: Floats
    end_ms: Floats
    executor: Objects
    stage: Ints
    stage_attempt: Ints
    partition: Ints
    attempt: Ints
    speculative: Bools
    successful: Bools
    locality: Ints
    kind: Ints
    waited_ms: Floats
    stateful: Bools
    result: Bools

    @classmethod
    def none(cls) -> "Tasks":
        columns: list[NDArray[Any]] = [np.empty(0, dtype=dtype) for dtype in TYPES]
        return cls(*columns)

    @property
    def duration_ms(self) -> Floats:
        return self.end_ms - self.start_ms

    def __len__(self) -> int:
        return len(self.start_ms)


# The types of the columns, in the order of the fields.
TYPES: tuple[type, ...] = (
    np.float64,
    np.float64,
    object,
    np.int64,
    np.int64,
    np.int64,
    np.int64,
    np.bool_,
    np.bool_,
    np.int64,
    np.int64,
    np.float64,
    np.bool_,
    np.bool_,
)
