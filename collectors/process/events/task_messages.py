"""The driver's messages about tasks, executors and shuffles: three kinds on the link.

Written by `probe/tasks/TaskMessage.scala`. Integers are LEB128, texts UTF-8 behind their length.

A *stage* below begins with: varint stage id, varint attempt, text query id (empty = no streaming
query's), text run id, varint batch id + 1 (0 = none), varint place of the stage among those of its
batch + 1 (0 = not known), varint flags (1 uses state stores, 2 writes to the sink of its query).

`MessageKind.TASKS`, at most one every 100 ms:

    byte      version = 2
    varint    events the probe could not note, since it began
    varint    number of stages of which something is said, then each
      stage     as above
      varint    tasks
      varint    waiting                  not started yet, or to be tried again
      varint    running
      varint    submitted epoch ms
      varint    completed epoch ms       0 = it goes on
    varint    number of executors, then each: text id
    varint    base epoch ms
    varint    number of tasks, then each, varints only
      place in the stages, place in the executors, task id, partition, attempt,
      flags                              1 ended, 2 successful, 4 killed, 8 speculative,
                                         16 would rather have run in some place than in any
      locality                           `Locality`
      launch ms − base                   zigzag
      and where it ended: duration ms, run ms, rows read, shuffle bytes read,
      shuffle bytes written, rows written

`MessageKind.EXECUTORS`, one per change: byte version, byte flags (1 it is there, 2 it is leaving),
varint epoch ms of the change, text id, text host, varint cores, text reason of its end.

`MessageKind.TRAFFIC`, one per stage that read a shuffle:

    byte      version = 2
    stage     as above
    varint    completed epoch ms
    byte      measured                   0 = shared out by what each executor wrote
    varint    number of executors, then each: text id
    varint    number of cells, then each
      varint    from, varint to          places in the executors
      varint    bytes
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from collectors.formats.codec import Garbled, Reader

VERSION = 2

# Plain numbers: an IntFlag would take most of the time of decoding.
_ENDED, _SUCCESSFUL, _KILLED, _SPECULATIVE, _CHOOSY = 1, 2, 4, 8, 16
_STATEFUL, _RESULT = 1, 2
_THERE, _LEAVING = 1, 2


class Locality(IntEnum):
    """Spark's `TaskLocality`, by its ordinals."""

    PROCESS_LOCAL = 0
    NODE_LOCAL = 1
    NO_PREF = 2
    RACK_LOCAL = 3
    ANY = 4


@dataclass(frozen=True)
class Stage:
    """One attempt of a stage, and the query, run and batch it belongs to.

    `kind` is its place among the stages of its batch: the same stage of every batch has the same.
    """

    stage_id: int
    attempt: int = 0
    query_id: str = ""
    run_id: str = ""
    batch_id: int | None = None
    kind: int | None = None
    stateful: bool = False
    result: bool = False


@dataclass(frozen=True)
class StageWait:
    """A stage when the probe sent the message: waiting = its tasks − those started."""

    stage: Stage
    tasks: int
    waiting: int
    running: int
    submitted_ms: int
    completed_ms: int = 0


@dataclass(frozen=True, slots=True)
class TaskRecord:
    """A task that was launched (`finish_ms` is 0) or that ended. `waited_ms` is the time from the
    submission of its stage to its launch."""

    stage: Stage
    executor_id: str
    task_id: int
    partition: int
    attempt: int
    launch_ms: int
    finish_ms: int = 0
    successful: bool = False
    killed: bool = False
    speculative: bool = False
    choosy: bool = False
    locality: int = Locality.PROCESS_LOCAL
    run_ms: int = 0
    rows_read: int = 0
    shuffle_bytes_read: int = 0
    shuffle_bytes_written: int = 0
    rows_written: int = 0
    waited_ms: int = 0

    @property
    def ended(self) -> bool:
        return self.finish_ms > 0

    @property
    def missed_its_place(self) -> bool:
        return self.choosy and self.locality == Locality.ANY


@dataclass(frozen=True)
class Tasks:
    lost_events: int
    stages: tuple[StageWait, ...]
    records: tuple[TaskRecord, ...]


@dataclass(frozen=True)
class ExecutorChange:
    """An executor that joined (`joined`), that Spark now decommissions (`joined` and `leaving`), or
    that is gone. A new collector is told of all that are there."""

    executor_id: str
    joined: bool
    time_ms: int
    host: str = ""
    cores: int = 0
    reason: str = ""
    leaving: bool = False


@dataclass(frozen=True)
class Flow:
    from_executor: str
    to_executor: str
    shuffle_bytes: int


@dataclass(frozen=True)
class Traffic:
    """Shuffle bytes from executor to executor, for one completed stage."""

    stage: Stage
    completed_ms: int
    measured: bool
    flows: tuple[Flow, ...]


def decode_tasks(data: bytes) -> Tasks:
    reader = _reader(data)
    lost_events = reader.varint()
    stages = tuple(_stage_wait(reader) for _ in range(reader.varint()))
    executors = [reader.text() for _ in range(reader.varint())]
    base_ms = reader.varint()
    number = reader.varint()
    numbers = _varints(data[len(data) - reader.left :])
    records = []
    try:
        for _ in range(number):
            records.append(_record(numbers, stages, executors, base_ms))
    except (IndexError, StopIteration) as error:
        raise Garbled("a task cut off, or of no stage or executor") from error
    return Tasks(lost_events, stages, tuple(records))


def decode_executor(data: bytes) -> ExecutorChange:
    reader = _reader(data)
    flags = reader.byte()
    return ExecutorChange(
        joined=bool(flags & _THERE),
        leaving=bool(flags & _LEAVING),
        time_ms=reader.varint(),
        executor_id=reader.text(),
        host=reader.text(),
        cores=reader.varint(),
        reason=reader.text(),
    )


def decode_traffic(data: bytes) -> Traffic:
    reader = _reader(data)
    stage, completed_ms, measured = _stage(reader), reader.varint(), bool(reader.byte())
    executors = [reader.text() for _ in range(reader.varint())]
    try:
        flows = tuple(
            Flow(executors[reader.varint()], executors[reader.varint()], reader.varint())
            for _ in range(reader.varint())
        )
    except IndexError as error:
        raise Garbled("bytes of no executor") from error
    return Traffic(stage, completed_ms, measured, flows)


def _reader(data: bytes) -> Reader:
    reader = Reader(data)
    if (version := reader.byte()) != VERSION:
        raise Garbled(f"tasks of version {version}, this reads {VERSION}")
    return reader


def _stage(reader: Reader) -> Stage:
    stage_id, attempt = reader.varint(), reader.varint()
    query_id, run_id = reader.text(), reader.text()
    batch_id, kind, flags = reader.optional(), reader.optional(), reader.varint()
    stateful, result = bool(flags & _STATEFUL), bool(flags & _RESULT)
    return Stage(stage_id, attempt, query_id, run_id, batch_id, kind, stateful, result)


def _stage_wait(reader: Reader) -> StageWait:
    return StageWait(
        stage=_stage(reader),
        tasks=reader.varint(),
        waiting=reader.varint(),
        running=reader.varint(),
        submitted_ms=reader.varint(),
        completed_ms=reader.varint(),
    )


def _varints(data: bytes) -> Iterator[int]:
    """A several times faster `Reader.varint`: there may be thousands of tasks a second."""
    value = place = 0
    for byte in data:
        if byte < 0x80:
            yield value | byte << place
            value = place = 0
        else:
            value |= (byte & 0x7F) << place
            place += 7
            if place >= 7 * Reader.MAX_VARINT_BYTES:
                raise Garbled("an integer that does not end")


def _record(
    numbers: Iterator[int], stages: tuple[StageWait, ...], executors: list[str], base_ms: int
) -> TaskRecord:
    wait = stages[next(numbers)]
    stage = wait.stage
    executor_id = executors[next(numbers)]
    task_id, partition, attempt = next(numbers), next(numbers), next(numbers)
    flags, locality, launch = next(numbers), next(numbers), next(numbers)
    launch_ms = base_ms + ((launch >> 1) ^ -(launch & 1))
    waited_ms = max(0, launch_ms - wait.submitted_ms)
    speculative, choosy = bool(flags & _SPECULATIVE), bool(flags & _CHOOSY)
    if not flags & _ENDED:
        return TaskRecord(
            stage=stage,
            executor_id=executor_id,
            task_id=task_id,
            partition=partition,
            attempt=attempt,
            launch_ms=launch_ms,
            speculative=speculative,
            choosy=choosy,
            locality=locality,
            waited_ms=waited_ms,
        )
    return TaskRecord(
        stage=stage,
        executor_id=executor_id,
        task_id=task_id,
        partition=partition,
        attempt=attempt,
        launch_ms=launch_ms,
        finish_ms=launch_ms + next(numbers),
        successful=bool(flags & _SUCCESSFUL),
        killed=bool(flags & _KILLED),
        speculative=speculative,
        choosy=choosy,
        locality=locality,
        run_ms=next(numbers),
        rows_read=next(numbers),
        shuffle_bytes_read=next(numbers),
        shuffle_bytes_written=next(numbers),
        rows_written=next(numbers),
        waited_ms=waited_ms,
    )
