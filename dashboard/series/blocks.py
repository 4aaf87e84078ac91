"""A job's latency in blocks of ten seconds: the samples from which an effect is estimated."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from collectors.formats import latency
from collectors.formats.buckets import Histogram, merged
from collectors.formats.wire import Frame
from techniques.effect import BLOCK_MS

PERCENTILES = {"p50": 0.5, "p99": 0.99, "p999": 0.999}


@dataclass(frozen=True)
class Block:
    start_ms: int
    count: int
    p50: float
    p99: float
    p999: float

    def as_dict(self) -> dict[str, float]:
        return asdict(self)


def blocks(frames: Sequence[Frame]) -> list[Block]:
    """Blocks in which something completed, oldest first; percentiles in ms.

    Records completed during warm-up are left out: they say nothing about a technique."""
    frames = [frame for frame in frames if not frame.warming_up]
    source = latency.source_of(frames)
    held: dict[int, list[Histogram]] = {}
    for frame in frames:
        histogram = latency.of(frame, source)
        if histogram.counts:
            held.setdefault(frame.start_ms // BLOCK_MS * BLOCK_MS, []).append(histogram)
    return [_block(start_ms, merged(found)) for start_ms, found in sorted(held.items())]


def _block(start_ms: int, histogram: Histogram) -> Block:
    values = [us / 1000 for us in histogram.quantiles_us(PERCENTILES.values()) if us is not None]
    return Block(start_ms, histogram.count, *values)


def whole(found: Iterable[Block], start_ms: int, end_ms: int) -> list[Block]:
    """The blocks that lie wholly in the range."""
    last_ms = end_ms - BLOCK_MS
    return [block for block in found if start_ms <= block.start_ms <= last_ms]
