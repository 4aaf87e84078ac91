"""Which small files of a partition become one, and the one that they become.

An archiver leaves a file for every few minutes. Those of an hour are merged when there are twelve,
and a day's once it is over, so each row is rewritten twice and a past day is one file a job.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

from pyarrow import fs

from dashboard.history import data_files
from dashboard.history.data_files import DataFile
from dashboard.history.delta import Log
from dashboard.history.reading import Range, Reading, Replaced

HOUR_MS = 3_600_000
_FILES_AN_HOUR = 12


def plan(files: Iterable[DataFile], now_ms: int) -> list[list[DataFile]]:
    """Groups of files to merge, each of one partition and by time; oldest days first."""
    partitions: dict[tuple[str, ...], list[DataFile]] = defaultdict(list)
    for file in files:
        partitions[tuple(file.partition.values())].append(file)
    # An hour later nobody appends to a day that is over, unless the archiver was away.
    over = data_files.day_of(now_ms - HOUR_MS)
    found = []
    for each in partitions.values():
        if each[0].partition["day"] < over:
            group = each
        else:
            group = [file for file in each if file.newest_ms - file.oldest_ms < HOUR_MS]
            if len(group) < _FILES_AN_HOUR:
                continue
        group = sorted(group, key=lambda file: file.oldest_ms)
        # Marks only rise, so the files of a stream follow each other; we sort no others.
        if len(group) > 1 and all(a.newest_ms < b.oldest_ms for a, b in pairwise(group)):
            found.append(group)
    return sorted(found, key=lambda group: group[0].oldest_ms)


def merge(
    filesystem: fs.FileSystem, log: Log, reading: Reading, group: Sequence[DataFile]
) -> DataFile | None:
    """Writes the rows of all these files to one; None if not all can be read.

    Holds the rows of one of the files at a time, and what it has written, which is compressed."""
    everything = Range({}, group[0].oldest_ms, group[-1].newest_ms + 1)
    tables = (rows for _, rows in reading.each(log, group, everything))
    try:
        merged = data_files.write(
            filesystem, log.layout, group[0].partition, log.layout.columns.names, tables
        )
    except Replaced:
        return None
    return merged if merged.rows == sum(file.rows for file in group) else None
