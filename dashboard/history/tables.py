"""The archive's tables: their columns, with types, and how their files are laid out.

Rows of a file are sorted by time and its row groups are a quarter of an hour long, so that a
quarter of an hour of a day reads two or three of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from collectors.formats.keys import Kind
from dashboard.history import sections
from dashboard.history.rolled_schema import ROLLED

FRAMES, ACTIVITIES, ROLLUPS = "frames", "activities", "rollups"
TABLE_OF = {Kind.FRAMES: FRAMES, Kind.ACTIVITIES: ACTIVITIES}

# 15 minutes of 50 ms windows.
ROWS_PER_GROUP = 18_000
# 5 % smaller than level 3 for 2 µs more a window; level 9 saves 2 % for 3 µs more.
ZSTD_LEVEL = 6

_REPEATING = ("run_id", "release", "source")
_ENCODINGS = {pa.int64(): "DELTA_BINARY_PACKED", pa.binary(): "DELTA_LENGTH_BYTE_ARRAY"}


@dataclass(frozen=True)
class Layout:
    """One table: the columns in its files, and those that only its folders' names hold."""

    name: str
    columns: pa.Schema
    partitions: pa.Schema

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([*self.partitions, *self.columns])

    def path(self, path: str) -> str:
        """The path in the archive's folder of a path in the table's folder."""
        return f"{self.name}/{path}"

    def writing(self, names: Sequence[str]) -> Mapping[str, Any]:
        """What `pyarrow.parquet.ParquetWriter` is told. Bytes of sections hardly repeat: a
        dictionary would only be tried and given up, and their lengths are kept apart from them.
        Statistics serve nobody but `at_ms`."""
        encodings = {
            name: _ENCODINGS[kind]
            for name, kind in zip(self.columns.names, self.columns.types, strict=True)
            if name in names and kind in _ENCODINGS and name not in _REPEATING
        }
        return {
            "compression": "zstd",
            "compression_level": ZSTD_LEVEL,
            "use_dictionary": [name for name in _REPEATING if name in names],
            "column_encoding": encodings,
            "write_statistics": ["at_ms"],
            # Overwritten bytes are found when they are read, not when they are believed.
            "write_page_checksum": True,
            "store_schema": False,
        }


_BY_DAY_AND_JOB = pa.schema([("day", pa.string()), ("job", pa.string())])

LAYOUTS = {
    FRAMES: Layout(
        FRAMES,
        pa.schema(
            [
                ("at_ms", pa.int64()),
                ("sequence", pa.int64()),
                ("run_id", pa.binary()),
                *((sections.NAMES[tag], pa.binary()) for tag in sections.TAGS),
                ("rest", pa.binary()),
            ]
        ),
        _BY_DAY_AND_JOB,
    ),
    ACTIVITIES: Layout(
        ACTIVITIES,
        pa.schema([("at_ms", pa.int64()), ("payload", pa.binary())]),
        _BY_DAY_AND_JOB,
    ),
    ROLLUPS: Layout(
        ROLLUPS,
        ROLLED,
        pa.schema([("step_ms", pa.int64()), *_BY_DAY_AND_JOB]),
    ),
}
