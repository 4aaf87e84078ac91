"""Computes the pulse of one run from its frames. Time is that of the windows.

Per window, counts are only added up; everything else waits for the heartbeat, because windows come
twenty times as often.
"""

from collections import deque
from collections.abc import Iterable, Mapping

from collectors.formats import latency
from collectors.formats.activity import Activity, Kind
from collectors.formats.buckets import Histogram
from collectors.formats.coarse_buckets import Tally
from collectors.formats.collector_load import CollectorLoad
from collectors.formats.latency import Source
from collectors.formats.pulse import BIN_MS, MOST_BINS, Pulse, Recent
from collectors.formats.wire import Frame, Health


class PulseTaker:
    def __init__(self) -> None:
        self._source = Source.NONE
        self._processed, self._committed, self._batch_durations = Tally(), Tally(), Tally()
        # Since the last heartbeat.
        self._new_processed: dict[int, int] = {}
        self._new_committed: dict[int, int] = {}
        # The open bin: record latencies, and batch latencies to use where no record is stamped.
        self._bin = 0
        self._bin_records: dict[int, int] = {}
        self._bin_batches: dict[int, int] = {}
        self._recent: deque[int | None] = deque(maxlen=MOST_BINS)
        self._rows_in = self._batches = 0
        self._flushes = self._compactions = self._failed_tasks = 0
        self._health = Health()
        self._backlog_rows: int | None = None
        self._warming_up = False

    def add(self, frame: Frame, committed: Histogram, ended: Iterable[Activity] = ()) -> None:
        """Adds a frame; call in the order of windows."""
        self._turn_to(frame.start_ms // BIN_MS)
        before, self._source = self._source, latency.source_of((frame,), self._source)
        if before != self._source == Source.RECORD:
            self._recent.clear()  # those were batch latencies
        if frame.warming_up:
            self._processed.add(frame.latency.counts)  # counts in the totals, but in no bin
        else:
            _pour(self._new_processed, frame.latency.counts)
        _pour(self._new_committed, committed.counts)
        for batch in frame.batches:
            self._batches += 1
            self._rows_in += batch.rows_in
            self._batch_durations.add(Histogram.of((batch.duration_ms * 1000,)).counts)
        if self._source == Source.BATCH and not frame.warming_up:
            _pour(self._bin_batches, latency.of(frame, self._source).counts)
        for activity in ended:
            self._flushes += activity.kind is Kind.FLUSH
            self._compactions += activity.kind is Kind.COMPACTION
        self._failed_tasks += frame.tasks.failed
        self._health = frame.health
        self._backlog_rows = frame.backlog_rows
        self._warming_up = frame.warming_up

    def pulse(self, load: CollectorLoad, busy_share: float | None = None) -> Pulse:
        self._settle()
        return Pulse(
            source=self._source,
            processed=self._processed.taken(),
            committed=self._committed.taken(),
            batch_durations=self._batch_durations.taken(),
            rows_in=self._rows_in,
            batches=self._batches,
            flushes=self._flushes,
            compactions=self._compactions,
            failed_tasks=self._failed_tasks,
            health=self._health,
            load=load,
            busy_share=busy_share,
            backlog_rows=self._backlog_rows,
            recent=self._seen(),
            warming_up=self._warming_up,
        )

    def _turn_to(self, number: int) -> None:
        """Closes the open bin and opens bin `number`; bins in between are empty."""
        if number == self._bin:
            return
        if self._bin:
            self._settle()
            self._recent.append(self._p99_us())
            silent = min(MOST_BINS, number - self._bin - 1)
            self._recent.extend([None] * silent)
        self._bin = number
        self._bin_records, self._bin_batches = {}, {}

    def _settle(self) -> None:
        """Adds the counts since the last heartbeat to the totals and to the open bin."""
        self._processed.add(self._new_processed)
        self._committed.add(self._new_committed)
        _pour(self._bin_records, self._new_processed)
        self._new_processed, self._new_committed = {}, {}

    def _p99_us(self) -> int | None:
        counts = self._bin_records if self._source == Source.RECORD else self._bin_batches
        [p99_us] = Histogram(counts).quantiles_us([0.99])
        return None if p99_us is None else round(p99_us)

    def _seen(self) -> Recent:
        if not self._recent:
            return Recent()
        return Recent((self._bin - 1) * BIN_MS, tuple(self._recent))


def _pour(into: dict[int, int], counts: Mapping[int, int]) -> None:
    for index, count in counts.items():
        into[index] = into.get(index, 0) + count
