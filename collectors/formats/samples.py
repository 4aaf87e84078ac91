"""What executors measured in one window: the largest section of a quiet job's frame.

Executors measure the same metrics on hosts with much the same names, so neither is said for each
anew. Four executors with all of `collectors.formats.metrics` take 230 bytes instead of 390.

    varint    number of executors, then each
      text      id
      varint    characters of its host that are those of the host before, from the start
      varint    the same from the end, of what is left
      text      the characters between the two
    varint    number of metrics, then each
      varint    id (`collectors.formats.metrics`), as the distance from the one before
    for each executor each metric
      varint    0 = not measured here, else zigzag value + 1
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import cast

from collectors.formats.codec import Reader, Writer


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


def read(reader: Reader, only: frozenset[int] | None = None) -> tuple[ExecutorSample, ...]:
    """Reads the samples; with `only`, just these metrics."""
    head = read_head(reader)
    ids = head.ids
    if only is None:
        return tuple(
            ExecutorSample(*each, _measured(ids, reader.optional_signeds(len(ids))))
            for each in head.executors
        )
    places, wanted = head.places(only)
    values = reader.picked_signeds(len(head.executors) * len(ids), places)
    step = len(wanted)
    return tuple(
        [
            ExecutorSample(*each, _measured(wanted, values[number * step : (number + 1) * step]))
            for number, each in enumerate(head.executors)
        ]
    )


def _measured(ids: Sequence[int], values: Sequence[int | None]) -> dict[int, int]:
    found = dict(zip(ids, values, strict=True))
    if None in values:
        found = {id_: value for id_, value in found.items() if value is not None}
    return cast(dict[int, int], found)


@dataclass(frozen=True)
class Head:
    """Everything before the values: the executors and the metrics they measured."""

    executors: tuple[tuple[str, str], ...]
    ids: tuple[int, ...]
    _places: dict[frozenset[int], tuple[tuple[int, ...], list[int]]] = field(default_factory=dict)

    def places(self, only: frozenset[int]) -> tuple[tuple[int, ...], list[int]]:
        """Returns the positions of these metrics among the values, and the metrics per executor."""
        if (known := self._places.get(only)) is None:
            at = [place for place, id_ in enumerate(self.ids) if id_ in only]
            rows = range(len(self.executors))
            known = (
                tuple(row * len(self.ids) + place for row in rows for place in at),
                [self.ids[place] for place in at],
            )
            self._places[only] = known
        return known


# A cache of heads by their first bytes: executor names and hosts hardly ever change.
_HEADS: dict[bytes, list[tuple[bytes, Head]]] = {}
_FIRST_BYTES = 24
_MOST_FIRST_BYTES, _MOST_ALIKE = 4_096, 16


def read_head(reader: Reader) -> Head:
    """Reads a head, or takes it from the cache instead of decoding it twenty times a second.

    A head determines its own length, so bytes that begin with a known head have that head."""
    before = reader.rest()
    first = before[:_FIRST_BYTES]
    for data, head in _HEADS.get(first, ()):
        if before.startswith(data):
            reader.skip(len(data))
            return head
    executors: list[tuple[str, str]] = []
    host = ""
    for _ in range(reader.varint()):
        executor_id, host = reader.text(), _read_host(reader, host)
        executors.append((executor_id, host))
    head = Head(tuple(executors), tuple(accumulate(reader.varints(reader.varint()))))
    if len(_HEADS) >= _MOST_FIRST_BYTES:
        _HEADS.clear()
    alike = _HEADS.setdefault(first, [])
    alike.append((before[: len(before) - reader.left], head))
    del alike[:-_MOST_ALIKE]
    return head


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
    """Returns the length of the common prefix."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
