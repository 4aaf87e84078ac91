"""Two archived ranges, of one job or of two: how the percentiles shifted."""

from dataclasses import dataclass

import numpy as np

from dashboard.history import bucket_columns
from dashboard.history.analysis.rolled_series import MINUTE_MS
from dashboard.history.archive import Archive
from techniques.analysis.compare import Shift, compare
from techniques.intervals import Floats

# More minutes than this are added up before they are compared, which bounds memory.
MOST_ROWS = 2_000


@dataclass(frozen=True)
class Range:
    job_id: str
    start_ms: int
    end_ms: int


def shifts(archive: Archive, before: Range, after: Range) -> tuple[Shift, ...]:
    """The shift of each percentile, in µs; none if a range has no archived records."""
    return compare(_minutes(archive, before), _minutes(archive, after), bucket_columns.MIDDLES_US)


def _minutes(archive: Archive, of: Range) -> Floats:
    """Counts by minute (or by a few minutes of a long range) and bucket."""
    rows = archive.read_columns(of.job_id, MINUTE_MS, of.start_ms, of.end_ms, ("at_ms", "latency"))
    histograms = bucket_columns.read(rows["latency"])
    joined = max(1, -(-histograms.rows // MOST_ROWS))
    table = np.zeros((-(-histograms.rows // joined), len(bucket_columns.MIDDLES_US)))
    np.add.at(table, (histograms.row // joined, histograms.index), histograms.count)
    return table
