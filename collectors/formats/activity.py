"""Something with a beginning and an end: a flush, a compaction, a GC pause, a micro-batch.

The format on a job's stream of activities, one entry per window in which some ended:

    byte      0xCA
    byte      version = 1
    varint    number of activities, then each
      byte      kind                     `Kind`
      varint    start epoch µs
      varint    duration µs
      text      executor id              empty for the driver's own
      varint    operator + 1             0 = of no operator
      varint    partition + 1            0 = of no partition
      text      name                     "G1 Young Generation", "addBatch", a store's name
      text      reason                   what set it off, where somebody says so
      varint    input bytes + 1          0 = unknown
      varint    output bytes + 1
    varint    number of tasks of which more is known, then each (absent in older entries, and
              not read by older readers, which stop before it)
      varint    its place in the activities
      varint    stage id
      varint    attempt of the stage
      varint    attempt of the task
      varint    locality                 Spark's `TaskLocality`, by its ordinals
      varint    flags                    1 speculative, 2 successful, 4 uses a state store,
                                         8 writes to the sink
              then for each of these tasks (absent in older entries, as above)
      varint    kind + 1                 the place of its stage among those of its batch
      varint    waited ms + 1            from the submission of its stage to its launch; 0 = unknown

Spark's operators, partitions and stages are 32-bit integers and byte counts 64-bit ones, and times
are such that a double holds them: anything beyond is not an activity and raises `Garbled`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from collectors.formats.codec import Garbled, Reader, Writer

MAGIC = 0xCA
VERSION = 1


class Kind(IntEnum):
    FLUSH = 1
    COMPACTION = 2
    GC = 3
    COMMIT = 4
    SNAPSHOT = 5
    BATCH = 6
    PHASE = 7
    TASK = 8
    # The size of a state store, seen at one moment (start = end): its live bytes are `input_bytes`.
    STATE = 9


_KINDS = {kind.value: kind for kind in Kind}
_SPECULATIVE, _SUCCESSFUL, _STATEFUL, _RESULT = 1, 2, 4, 8
# Exclusive upper bounds.
_INT, _LONG, _TIME_US = 1 << 31, 1 << 63, 1 << 53


@dataclass(frozen=True)
class TaskFacts:
    """What Spark's scheduler knows of a task beyond where and when it ran."""

    stage: int
    stage_attempt: int = 0
    attempt: int = 0
    locality: int = 0
    speculative: bool = False
    successful: bool = True
    stateful: bool = False
    result: bool = False
    kind: int | None = None
    waited_ms: int | None = None


@dataclass(frozen=True)
class Activity:
    """A finished activity."""

    kind: Kind
    start_us: int
    end_us: int
    executor_id: str = ""
    operator: int | None = None
    partition: int | None = None
    name: str = ""
    reason: str = ""
    input_bytes: int | None = None
    output_bytes: int | None = None
    task: TaskFacts | None = None


def encode(activities: Sequence[Activity]) -> bytes:
    out = Writer()
    out.byte(MAGIC)
    out.byte(VERSION)
    out.varint(len(activities))
    for each in activities:
        out.byte(each.kind)
        out.varint(each.start_us)
        out.varint(max(0, each.end_us - each.start_us))
        out.text(each.executor_id)
        out.optional(each.operator)
        out.optional(each.partition)
        out.text(each.name)
        out.text(each.reason)
        out.optional(each.input_bytes)
        out.optional(each.output_bytes)
    tasks = [(place, each.task) for place, each in enumerate(activities) if each.task]
    if tasks:
        out.varint(len(tasks))
        for place, task in tasks:
            _write_task(out, place, task)
        for _, task in tasks:
            out.optional(task.kind)
            out.optional(task.waited_ms)
    return out.bytes()


def decode(data: bytes, with_tasks: bool = True) -> tuple[Activity, ...]:
    """Raises `Garbled` for anything but activities. With `with_tasks` False, `TaskFacts` are not
    decoded."""
    reader = Reader(data)
    if reader.byte() != MAGIC:
        raise Garbled("no activities")
    if (version := reader.byte()) != VERSION:
        raise Garbled(f"activities of version {version}, this reads {VERSION}")
    rows = [_read(reader) for _ in range(reader.varint())]
    if not with_tasks or not reader.left:
        return tuple([Activity(*row) for row in rows])
    tasks = dict([_read_task(reader) for _ in range(reader.varint())])
    if max(tasks, default=0) >= max(1, len(rows)):
        raise Garbled(f"task {max(tasks)} of {len(rows)} activities")
    if reader.left:
        tasks = {place: _read_stage(reader, task) for place, task in tasks.items()}
    return tuple([Activity(*row, tasks.get(place)) for place, row in enumerate(rows)])


_Row = tuple[Kind, int, int, str, int | None, int | None, str, str, int | None, int | None]


def _read(reader: Reader) -> _Row:
    """Returns the fields of an activity in the order of the format."""
    if (kind := _KINDS.get(number := reader.byte())) is None:
        raise Garbled(f"an activity of unknown kind: {number}")
    start_us = reader.varint()
    text, optional = reader.text, reader.optional
    row = (
        kind,
        start_us,
        start_us + reader.varint(),
        text(),
        optional(),
        optional(),
        text(),
        text(),
        optional(),
        optional(),
    )
    _, _, end_us, _, operator, partition, _, _, input_bytes, output_bytes = row
    if end_us >= _TIME_US:
        raise Garbled(f"an activity that ends at {end_us} µs")
    if (operator or 0) >= _INT or (partition or 0) >= _INT:
        raise Garbled(f"operator {operator}, partition {partition}: no integers of Spark's")
    if (input_bytes or 0) >= _LONG or (output_bytes or 0) >= _LONG:
        raise Garbled(f"{input_bytes} bytes in, {output_bytes} bytes out")
    return row


def _write_task(out: Writer, place: int, task: TaskFacts) -> None:
    flags = (
        _SPECULATIVE * task.speculative
        | _SUCCESSFUL * task.successful
        | _STATEFUL * task.stateful
        | _RESULT * task.result
    )
    for value in (place, task.stage, task.stage_attempt, task.attempt, task.locality, flags):
        out.varint(value)


def _read_task(reader: Reader) -> tuple[int, TaskFacts]:
    """Returns the index of the task's activity, and the facts."""
    place, stage, stage_attempt, attempt, locality, flags = reader.varints(6)
    if max(stage, stage_attempt, attempt, locality) >= _INT:
        raise Garbled(f"stage {stage}, attempt {attempt}: no integers of Spark's")
    return place, TaskFacts(
        stage,
        stage_attempt,
        attempt,
        locality,
        bool(flags & _SPECULATIVE),
        bool(flags & _SUCCESSFUL),
        bool(flags & _STATEFUL),
        bool(flags & _RESULT),
    )


def _read_stage(reader: Reader, task: TaskFacts) -> TaskFacts:
    kind, waited_ms = reader.optional(), reader.optional()
    if max(kind or 0, waited_ms or 0) >= _INT:
        raise Garbled(f"stage {kind} of its batch, {waited_ms} ms waited")
    return replace(task, kind=kind, waited_ms=waited_ms)
