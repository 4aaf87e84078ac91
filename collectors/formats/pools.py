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
      varints   chunks sent for the first time, chunks replayed, replays whose result came first,
                results dropped because another copy's was there
      varint    timeout µs               after which a chunk is replayed; 0 = none
      varint    replay                   which chunks are (`techniques.pool.settings.Replay`)
      varint    tau ms                   between two looks at backlogs; 0 = all may send
      varint    number of operators, then each
        text      name
        varint    shared queued          chunks in the queue that its instances share
        varint    room                   instances that it may grow to
      varint    number of instances, then each
        varint    operator               its place in the operators
        byte      state                  `InstanceState`
        varint    queued                 chunks in its ring
        varints   executed, failed, rows in, rows out, busy µs
        varint    parked                 results in its outgoing queue
        varint    weight                 mean of all dispatchers, in 1/100 %; 0 = none weighs
        varint    signal                 1 = may send while tau is set
        varint    dropped                chunks not worked on: their result was there already
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
    parked: int = 0
    weight: int = 0
    signal: int = 0
    dropped: int = 0


@dataclass(frozen=True)
class Sent:
    """Chunks from the tasks (`source` 0) or from instance `source` − 1."""

    source: int
    instance: int
    chunks: int


@dataclass(frozen=True)
class PoolSample:
    """`shared_queued` and `room` have a number for each operator; the former may be empty if
    nothing is queued, the latter if it is not known."""

    name: str
    host: str
    policy: int
    operators: tuple[str, ...]
    instances: tuple[InstanceSample, ...]
    sent: tuple[Sent, ...] = ()
    held_chunks: int = 0
    replaced: int = 0
    handed_out_again: int = 0
    chunks_sent: int = 0
    replayed: int = 0
    replays_won: int = 0
    results_dropped: int = 0
    timeout_us: int = 0
    replay: int = 0
    tau_ms: int = 0
    shared_queued: tuple[int, ...] = ()
    room: tuple[int, ...] = ()

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
        for value in (pool.chunks_sent, pool.replayed, pool.replays_won, pool.results_dropped):
            out.varint(value)
        for value in (pool.timeout_us, pool.replay, pool.tau_ms):
            out.varint(value)
        out.varint(len(pool.operators))
        nothing = (0,) * len(pool.operators)
        by_operator = (pool.operators, pool.shared_queued or nothing, pool.room or nothing)
        for operator, queued, room in zip(*by_operator, strict=True):
            out.text(operator)
            out.varint(queued)
            out.varint(room)
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
    for value in (each.parked, each.weight, each.signal, each.dropped):
        out.varint(value)
    buckets.write(out, each.latency)


def read_pool(reader: Reader) -> PoolSample:
    name, host = reader.text(), reader.text()
    policy, held, replaced, again = reader.varints(4)
    chunks_sent, replayed, replays_won, results_dropped = reader.varints(4)
    timeout_us, replay, tau_ms = reader.varints(3)
    named = [(reader.text(), reader.varint(), reader.varint()) for _ in range(reader.varint())]
    operators = tuple(operator for operator, _, _ in named)
    instances = tuple(_read_instance(reader, len(operators)) for _ in range(reader.varint()))
    sent = tuple(Sent(*reader.varints(3)) for _ in range(reader.varint()))
    return PoolSample(
        name=name,
        host=host,
        policy=policy,
        operators=operators,
        instances=instances,
        sent=sent,
        held_chunks=held,
        replaced=replaced,
        handed_out_again=again,
        chunks_sent=chunks_sent,
        replayed=replayed,
        replays_won=replays_won,
        results_dropped=results_dropped,
        timeout_us=timeout_us,
        replay=replay,
        tau_ms=tau_ms,
        shared_queued=tuple(queued for _, queued, _ in named),
        room=tuple(room for _, _, room in named),
    )


def _read_instance(reader: Reader, operators: int) -> InstanceSample:
    operator, state = reader.varint(), reader.byte()
    if operator >= operators:
        raise Garbled(f"operator {operator} of {operators}")
    if state not in _STATES:
        raise Garbled(f"no state of an instance: {state}")
    queued, executed, failed, rows_in, rows_out, busy_us = reader.varints(6)
    parked, weight, signal, dropped = reader.varints(4)
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
        parked=parked,
        weight=weight,
        signal=signal,
        dropped=dropped,
    )


_STATES = {int(state): state for state in InstanceState}
