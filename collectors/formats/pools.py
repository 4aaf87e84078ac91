"""What the operator pools of an application did in one window, by host and pool.

In an executor's part and in a frame alike; a part says besides which queries use each pool, and a
frame has those that its query uses. Of several executors on a host one reads the pool's page
(`techniques.pool.page`) and says it. Levels are of the window's end, amounts of all of it.

    varint    number of pools, then each
      text      name
      text      host
      varint    policy                   number of the one in force (`techniques.pool.policies`)
      varint    chunks that tasks have in the pool
      varint    instances replaced and varint chunks handed out again, since the pool began
      varint    number of operators, then each: text name
      varint    number of instances, then each
        varint    operator               its place in the operators
        byte      state                  `InstanceState`
        varint    queued                 chunks in its ring
        varints   executed, failed, rows in, rows out, busy µs
        …         latency                `formats.buckets`; from being sent to it to being done
      varint    number of pairs, then each
        varint    from                   0 = tasks, else 1 + the number of an instance
        varint    to                     the number of an instance
        varint    chunks
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from collectors.formats import buckets
from collectors.formats.buckets import Histogram
from collectors.formats.codec import Garbled, Reader, Writer

NO_RECORDS = Histogram()


class InstanceState(IntEnum):
    DEAD = 0
    STARTING = 1
    READY = 2


@dataclass(frozen=True)
class InstanceSample:
    operator: int
    state: InstanceState
    queued: int = 0
    executed: int = 0
    failed: int = 0
    rows_in: int = 0
    rows_out: int = 0
    busy_us: int = 0
    latency: Histogram = NO_RECORDS


@dataclass(frozen=True)
class Sent:
    """Chunks from the tasks (`source` 0) or from instance `source` − 1."""

    source: int
    instance: int
    chunks: int


@dataclass(frozen=True)
class PoolSample:
    name: str
    host: str
    policy: int
    operators: tuple[str, ...]
    instances: tuple[InstanceSample, ...]
    sent: tuple[Sent, ...] = ()
    held_chunks: int = 0
    replaced: int = 0
    handed_out_again: int = 0

    def instance_name(self, number: int) -> str:
        """Returns the instance's name as in the pool's logs."""
        operator = self.instances[number].operator
        within = sum(each.operator == operator for each in self.instances[:number])
        return f"{self.operators[operator]}-{within}"


def write(out: Writer, pools: Sequence[PoolSample]) -> None:
    out.varint(len(pools))
    for pool in pools:
        out.text(pool.name)
        out.text(pool.host)
        for value in (pool.policy, pool.held_chunks, pool.replaced, pool.handed_out_again):
            out.varint(value)
        out.varint(len(pool.operators))
        for operator in pool.operators:
            out.text(operator)
        out.varint(len(pool.instances))
        for each in pool.instances:
            _write_instance(out, each)
        out.varint(len(pool.sent))
        for sent in pool.sent:
            for value in (sent.source, sent.instance, sent.chunks):
                out.varint(value)


def read(reader: Reader) -> tuple[PoolSample, ...]:
    return tuple(read_pool(reader) for _ in range(reader.varint()))


def _write_instance(out: Writer, each: InstanceSample) -> None:
    out.varint(each.operator)
    out.byte(each.state)
    out.varint(each.queued)
    for value in (each.executed, each.failed, each.rows_in, each.rows_out, each.busy_us):
        out.varint(value)
    buckets.write(out, each.latency)


def read_pool(reader: Reader) -> PoolSample:
    name, host = reader.text(), reader.text()
    policy, held, replaced, again = reader.varints(4)
    operators = tuple(reader.text() for _ in range(reader.varint()))
    instances = tuple(_read_instance(reader, len(operators)) for _ in range(reader.varint()))
    sent = tuple(Sent(*reader.varints(3)) for _ in range(reader.varint()))
    return PoolSample(name, host, policy, operators, instances, sent, held, replaced, again)


def _read_instance(reader: Reader, operators: int) -> InstanceSample:
    operator, state = reader.varint(), reader.byte()
    if operator >= operators:
        raise Garbled(f"operator {operator} of {operators}")
    if state not in _STATES:
        raise Garbled(f"no state of an instance: {state}")
    queued, executed, failed, rows_in, rows_out, busy_us = reader.varints(6)
    return InstanceSample(
        operator=operator,
        state=_STATES[state],
        queued=queued,
        executed=executed,
        failed=failed,
        rows_in=rows_in,
        rows_out=rows_out,
        busy_us=busy_us,
        latency=buckets.read(reader),
    )


_STATES = {int(state): state for state in InstanceState}
