"""One message between tasks and instances: a head, and a record batch as Arrow writes it.

    head, 40 bytes, little-endian
       0  chunk, 8 bytes: its number within the owning task
       8  sent at, 8 bytes: CLOCK_MONOTONIC, ns
      16  slot, 4 bytes; 20 its generation, 4 bytes: by which the owning task is found
      24  place in the chain of operators, 2 bytes
      26  source, 2 bytes: 0 a task, else 1 + the instance that sent it
      28  kind, 2 bytes: 0 chunk, 1 result, 2 error
      30  spilled, 1 byte: the body is a file's name; 31 copy, 1 byte: 1 if it was replayed
      32  length of the schema that follows, 8 bytes; 0: the body is a whole Arrow stream
    then the schema, and the record batch; of an error, a traceback

The schema goes along with every chunk, so that a chunk needs nothing else to be understood; readers
remember the ones they have parsed.
"""

import struct
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import pyarrow as pa

HEAD = struct.Struct("<QQIIHHHBBQ")
CHUNK, RESULT, ERROR = range(3)

Part = bytes | memoryview
# Schemas are few; the limit is for a job that makes new ones all the time.
KNOWN_SCHEMAS = 64


class Head(NamedTuple):
    chunk: int
    sent_ns: int
    slot: int
    generation: int
    position: int
    source: int
    kind: int
    spilled: int = 0
    copy: int = 0
    schema_bytes: int = 0


class Garbled(Exception):
    """Not a message of ours."""


def packed(head: Head) -> bytes:
    return HEAD.pack(*head)


def unpacked(body: bytes | memoryview) -> tuple[Head, memoryview]:
    if len(body) < HEAD.size:
        raise Garbled(f"{len(body)} bytes are no message")
    return Head(*HEAD.unpack_from(body)), memoryview(body)[HEAD.size :]


def cut(batch: pa.RecordBatch, rows: int) -> Iterator[pa.RecordBatch]:
    """Yields slices of at most `rows` rows, without copying; an empty batch gives one chunk."""
    for at in range(0, max(1, batch.num_rows), rows):
        yield batch.slice(at, rows)


def written(batch: pa.RecordBatch) -> tuple[int, list[Part]]:
    """Returns the length of the schema, and the parts that follow the head."""
    schema = _schema_bytes(batch.schema)
    if schema is None:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as stream:
            stream.write_batch(batch)
        return 0, [memoryview(sink.getvalue())]
    return len(schema), [schema, memoryview(batch.serialize())]


def read(schema_bytes: int, rest: memoryview) -> pa.RecordBatch:
    try:
        if not schema_bytes:
            with pa.ipc.open_stream(pa.py_buffer(rest)) as stream:
                return stream.read_next_batch()
        schema = _schema(bytes(rest[:schema_bytes]))
        return pa.ipc.read_record_batch(pa.py_buffer(rest[schema_bytes:]), schema)
    except (pa.ArrowException, StopIteration, EOFError, OSError) as fault:
        raise Garbled(f"no record batch: {fault}") from fault


def size(parts: Sequence[Part]) -> int:
    return sum(len(part) for part in parts)


@lru_cache(KNOWN_SCHEMAS)
def _schema_bytes(schema: pa.Schema) -> bytes | None:
    """Returns the schema; None if the batch needs dictionaries, which only a stream carries."""
    if any(_has_dictionary(field.type) for field in schema):
        return None
    return bytes(schema.serialize())


@lru_cache(KNOWN_SCHEMAS)
def _schema(written: bytes) -> pa.Schema:
    return pa.ipc.read_schema(pa.py_buffer(written))


def _has_dictionary(kind: pa.DataType) -> bool:
    return pa.types.is_dictionary(kind) or any(
        _has_dictionary(kind.field(at).type) for at in range(kind.num_fields)
    )
