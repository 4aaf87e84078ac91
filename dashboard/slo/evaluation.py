"""Whether a job keeps its promise: its p99 over the last minute against the SLO. Pure.

One judgement per bin of ten seconds that the job completes. *Violated* is a minute whose p99 is
above the promise in two judgements in a row; *restored* is a minute in which no bin was above it,
so that a p99 close to the promise does not call somebody every ten seconds. A bin in which nothing
completed is no judgement, and neither is a job that sends nothing.

Jobs tell the p99 of their last bins with every heartbeat. If none of six bins is above the promise
then at most 1 % of the records of each are, so at most 1 % of the minute's: its p99 need not be
read from frames. Only a minute with a bin above it has to be.
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
        """Where the bins begin whose p99 is above the promise."""
        return [
            self.start_ms + at * BIN_MS
            for at, p99_ms in enumerate(self.p99_ms)
            if p99_ms is not None and p99_ms > promised_ms
        ]


@dataclass(frozen=True)
class Verdict:
    """What is kept between judgements. `above` is how many in a row were; `violated_ms` since
    when the promise is not kept."""

    judged_ms: int = 0
    above: int = 0
    violated_ms: int | None = None


def last_minute(recent: Recent) -> Minute | None:
    """None where the newest bin has nothing to judge."""
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
    """`p99_ms` is that of the whole minute, which only one that `needs_frames` has to have."""
    if minute.end_ms <= before.judged_ms:
        return before
    bins = minute.above(promised_ms)
    if before.violated_ms is not None:
        return before if bins else Verdict(minute.end_ms)
    if not bins:
        # Most jobs, most of the time: nothing to write down.
        return before if not before.above else Verdict(minute.end_ms)
    if p99_ms is None or p99_ms <= promised_ms:
        return Verdict(minute.end_ms)
    after = replace(before, judged_ms=minute.end_ms, above=before.above + 1)
    return after if after.above < IN_A_ROW else replace(after, violated_ms=bins[0])
