"""Whether a job meets its SLO: compares the p99 of the last minute with it. Pure.

The SLO is evaluated once per bin of ten seconds that the job completes. It is *violated* when the
p99 of the minute is above it in two evaluations in a row, and *restored* after a minute in which no
bin was above it, so that a p99 close to the SLO does not alert every ten seconds. There is no
evaluation for a bin in which nothing completed, nor for a job that sends nothing.

Jobs report the p99 of their last bins with every heartbeat. If none of the six bins is above the
SLO, then at most 1 % of the records of each bin are, and so at most 1 % of the minute's: its p99
need not be read from frames. It is read only for a minute with a bin above the SLO.
"""

from dataclasses import dataclass, replace

from collectors.formats.pulse import BIN_MS, Recent

BINS = 6
IN_A_ROW = 2


@dataclass(frozen=True)
class Minute:
    """The bins of ten seconds that a job completed last, oldest first; None: nothing completed."""

    end_ms: int
    p99_ms: tuple[float | None, ...]

    @property
    def start_ms(self) -> int:
        return self.end_ms - len(self.p99_ms) * BIN_MS

    def above(self, promised_ms: float) -> list[int]:
        """The start times of the bins whose p99 is above the SLO."""
        return [
            self.start_ms + at * BIN_MS
            for at, p99_ms in enumerate(self.p99_ms)
            if p99_ms is not None and p99_ms > promised_ms
        ]


@dataclass(frozen=True)
class Verdict:
    """The state between evaluations. `above`: how many in a row were above the SLO;
    `violated_ms`: since when it is violated."""

    judged_ms: int = 0
    above: int = 0
    violated_ms: int | None = None


def last_minute(recent: Recent) -> Minute | None:
    """Returns the last six bins, None if nothing completed in the newest."""
    p99_us = recent.p99_us[-BINS:]
    if not p99_us or p99_us[-1] is None:
        return None
    return Minute(
        recent.last_start_ms + BIN_MS, tuple(us if us is None else us / 1000 for us in p99_us)
    )


def needs_frames(before: Verdict, minute: Minute, promised_ms: float) -> bool:
    return before.violated_ms is None and bool(minute.above(promised_ms))


def judged(
    before: Verdict, minute: Minute, promised_ms: float, p99_ms: float | None = None
) -> Verdict:
    """`p99_ms` is that of the whole minute; it is required only if `needs_frames`."""
    if minute.end_ms <= before.judged_ms:
        return before
    bins = minute.above(promised_ms)
    if before.violated_ms is not None:
        return before if bins else Verdict(minute.end_ms)
    if not bins:
        # The usual case: unchanged, so that there is nothing to write to the database.
        return before if not before.above else Verdict(minute.end_ms)
    if p99_ms is None or p99_ms <= promised_ms:
        return Verdict(minute.end_ms)
    after = replace(before, judged_ms=minute.end_ms, above=before.above + 1)
    return after if after.above < IN_A_ROW else replace(after, violated_ms=bins[0])
