"""What executors measured in one window: the largest section of a quiet job's frame.

Executors measure the same metrics on hosts with much the same names, so neither is said for each
anew. Four executors with all of `collectors.metrics` take 230 bytes instead of 390.

    varint    number of executors, then each
      text      id
      varint    characters of its host that are those of the host before, from the start
      varint    the same from the end, of what is left
      text      the characters between the two
    varint    number of metrics, then each
      varint    id (`collectors.metrics`), as the distance from the one before
    for each executor each metric
      varint    0 = not measured here, else zigzag value + 1
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from collectors.codec import Reader, Writer


@dataclass(frozen=True)
class ExecutorSample:
    executor_id: str
    host: str
    metrics: Mapping[int, int]


def write(out: Writer, samples: Sequence[ExecutorSample]) -> None:
    out.varint(len(samples))
    before = ""
    for sample in samples:
        out.text(sample.executor_id)
        _write_host(out, sample.host, before)
        before = sample.host
    ids = sorted({id_ for sample in samples for id_ in sample.metrics})
    out.varint(len(ids))
    for last, id_ in zip([0, *ids], ids, strict=False):
        out.varint(id_ - last)
    for sample in samples:
        for id_ in ids:
            out.optional_signed(sample.metrics.get(id_))


def read(reader: Reader) -> tuple[ExecutorSample, ...]:
    executors: list[tuple[str, str]] = []
    host = ""
    for _ in range(reader.varint()):
        executor_id, host = reader.text(), _read_host(reader, host)
        executors.append((executor_id, host))
    ids = list(accumulate(reader.varints(reader.varint())))
    return tuple(
        ExecutorSample(
            *each,
            metrics={
                id_: value
                for id_, value in zip(ids, reader.optional_signeds(len(ids)), strict=True)
                if value is not None
            },
        )
        for each in executors
    )


def _write_host(out: Writer, host: str, before: str) -> None:
    start = _alike(host, before)
    rest, rest_before = host[start:], before[start:]
    end = _alike(rest[::-1], rest_before[::-1])
    out.varint(start)
    out.varint(end)
    out.text(rest[: len(rest) - end])


def _read_host(reader: Reader, before: str) -> str:
    start, end = reader.varints(2)
    return before[:start] + reader.text() + before[max(0, len(before) - end) :]


def _alike(one: str, other: str) -> int:
    """How many characters are the same, from the start."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
