"""What frames say of the job on three hosts, and whether it kept its pace."""

from collections.abc import Iterable
from statistics import median

from collectors.formats.wire import Batch, ExecutorSample, Frame

HOSTS = {"127.0.0.2", "127.0.0.3", "127.0.0.4"}
# The measure is what batches took in the ten seconds before, of which there is one a second.
BEFORE_MS, AFTER_MS = 10_000, 6_000
# What medians of so many batches of the same job differ by with nothing wrong, on two cores for
# three executors, a driver and whatever else runs there.
NOISE_RATIO, NOISE_MS = 2.0, 300


def samples(frames: Iterable[Frame]) -> list[ExecutorSample]:
    """Of executors alone: the driver may be measured as well."""
    return [sample for frame in frames for sample in frame.executors if sample.host in HOSTS]


def missing_samples(frames: list[Frame]) -> int:
    """How many the executors' hosts should have had, from the first frame to the last."""
    windows = frames[-1].window - frames[0].window + 1
    return windows * len(HOSTS) - len(samples(frames))


def hosts(frames: Iterable[Frame]) -> set[str]:
    return {sample.host for sample in samples(frames)}


def executors(frames: Iterable[Frame]) -> set[str]:
    return {sample.executor_id for sample in samples(frames)}


def contiguous(frames: list[Frame]) -> bool:
    """Neither a window nor a number is missing."""
    first = frames[0]
    return [(frame.window, frame.sequence) for frame in frames] == [
        (first.window + at, first.sequence + at) for at in range(len(frames))
    ]


def batches(frames: Iterable[Frame]) -> list[Batch]:
    return [batch for frame in frames for batch in frame.batches]


def kept_its_pace(told: list[Batch], since_ms: float, until_ms: float) -> None:
    """Batches between the two took about as long as before, and so did those after."""

    def took_ms(since_ms: float, until_ms: float) -> list[int]:
        return [b.duration_ms for b in told if since_ms <= b.start_ms and b.end_ms <= until_ms]

    before = took_ms(since_ms - BEFORE_MS, since_ms)
    during = took_ms(since_ms, until_ms)
    after = took_ms(until_ms, until_ms + AFTER_MS)
    most_ms = NOISE_RATIO * median(before) + NOISE_MS
    assert median(during) <= most_ms
    assert median(after) <= most_ms
    # Who waited for us would have waited to the end.
    assert max(during) < (until_ms - since_ms) / 4
