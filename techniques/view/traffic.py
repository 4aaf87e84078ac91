"""Shuffle bytes from executor to executor."""

from dataclasses import dataclass

import numpy as np

from techniques.intervals import Floats, Ints, Objects


@dataclass(frozen=True, eq=False)
class Traffic:
    """Bytes of finished stages: a row per window and pair of executors, oldest window first."""

    window_ms: Floats
    source: Objects
    target: Objects
    shuffle_bytes: Ints

    @classmethod
    def none(cls) -> "Traffic":
        nobody = np.empty(0, dtype=object)
        return cls(np.empty(0), nobody, nobody, np.empty(0, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.shuffle_bytes)
