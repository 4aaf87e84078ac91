from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.formats import wire
from collectors.formats.asked import Applied, Asked, State
from collectors.formats.buckets import Histogram
from collectors.formats.codec import Garbled
from collectors.formats.collector_load import CollectorLoad
from collectors.formats.lag import MOST_NAMED, Basis, Lag, PartitionLag
from collectors.formats.metrics import BY_NAME, SELDOM
from collectors.formats.pools import InstanceSample, InstanceState, PoolSample, Sent
from collectors.formats.slots import ExecutorSlots
from collectors.formats.state_sizes import StateSize
from collectors.formats.wire import (
    Batch,
    ExecutorSample,
    Frame,
    Health,
    Only,
    OperatorState,
    Shuffled,
    TaskCounts,
    UnknownVersion,
    decode,
    encode,
)
from tests.factories import FULL_FRAME, RUN_ID

# A change here is a change of the format: old frames in Redis and older readers must be thought of.
GOLDEN = bytes.fromhex(
    "c701"  # a frame of version 1
    "80a8bbd47e"  # window
    "ac02"  # sequence
    "00112233445566778899aabbccddeeff"  # run id
    "0109 03 0a01 b30202 fd0301"  # latency: buckets 10, 317 and 826
    "0213 01 07 98c895ffbc31 b607 a01f 01 02 1e 14 d206 19"  # batches: one
    "0407 01 02 03 04 05 06 07"  # health
    "0502 d209"  # backlog
    "0600"  # stamped
    "0709 02 00 04 02 06 01 00 00 00"  # state: two operators
    "0806 01 02 03 04 05 06"  # tasks
    "0907 01 0131 0132 e807"  # traffic
    "0a06 02 e10601 4c03"  # committed: buckets 865 and 941
    "0b0a ac02 05 06 808022 818010"  # collector
    "0c14 07 01 01 046563686f 03616374 02 07 05313a206e6f"  # asked: one technique
    "0d1a 02 0131 0000066e6f64652d61 0132 05000162"  # executors: 1 on node-a, 2 on node-b
    "02 01 01 ef05 0a 00 00"  # their metrics: 1 and 2, which the second does not have
    "0f00"  # warming up
    "1111 10466f726561636842617463685369 6e6b"  # sink
    "1209 02 013104 00 0132 02 01"  # slots: 1 has four cores; 2 has two and is leaving
    "141c 02 00 06646564757065 e907 8020 f1a204"  # state sizes: rows, memory and files of dedupe
    "01 0773657373696f6e 00 05 00"  # of session, rows and files are not told
    "151a ba60 01 0c 02"  # lag: ms, from offsets; twelve partitions, two named
    "086f72646572732d33 8407 086f72646572732d31 07"
    "1664 01 0673636f726573 066e6f64652d61 01 05 01 04"  # pools: one; policy, held, replaced, again
    "07 03 02 01 dc0b 01 50"  # chunks sent, replayed, won, dropped; timeout, replay, tau
    "02 0573636f7265 08 04 0472616e6b 09 05 03"  # operators, shared queues, room; 3 instances
    "00 02 03 02 00 8010 8010 a8c002 06 e419 01 02 02 ca0401 0b01"
    "00 00 00 00 00 00 00 00 00 00 00 00 00"
    "01 01 00 00 00 00 00 00 00 00 00 00 00"
    "02 000002 010201"  # pairs: from the tasks, and from the first to the third
)

histograms = st.builds(Histogram.of, st.lists(st.integers(0, 10**9), max_size=20))
naturals = st.integers(min_value=0, max_value=2**53)
metrics = st.dictionaries(naturals, st.integers(min_value=-(2**53), max_value=2**53), max_size=5)
applied = st.builds(
    Applied, st.text(), st.text(), st.sampled_from(State), naturals, st.text(max_size=9)
)
instances = st.builds(
    InstanceSample,
    st.just(0),
    st.sampled_from(InstanceState),
    *[naturals] * 6,
    histograms,
    *[naturals] * 4,
)
pools = st.builds(
    PoolSample,
    st.text(),
    st.text(),
    naturals,
    st.just(("score",)),
    st.lists(instances, max_size=3).map(tuple),
    st.lists(st.builds(Sent, naturals, naturals, naturals), max_size=2).map(tuple),
    *[naturals] * 10,
    st.tuples(naturals),
    st.tuples(naturals),
)
frames = st.builds(
    Frame,
    window=naturals,
    sequence=naturals,
    run_id=st.uuids(),
    latency=histograms,
    batches=st.lists(
        st.builds(
            Batch,
            naturals,
            naturals,
            naturals,
            naturals,
            st.tuples(*[naturals for _ in wire.PHASES]),
        ),
        max_size=3,
    ).map(tuple),
    executors=st.lists(st.builds(ExecutorSample, st.text(), st.text(), metrics), max_size=5).map(
        tuple
    ),
    health=st.builds(Health, *[naturals] * 7),
    backlog_rows=st.none() | naturals,
    stamped=st.booleans(),
    state=st.lists(
        st.builds(OperatorState, naturals, naturals, naturals, st.none() | naturals), max_size=3
    ).map(tuple),
    tasks=st.builds(TaskCounts, *[naturals] * 6),
    traffic=st.lists(st.builds(Shuffled, st.text(), st.text(), naturals), max_size=3).map(tuple),
    asked=st.none() | st.builds(Asked, naturals, st.booleans(), st.lists(applied).map(tuple)),
    collector=st.none() | st.builds(CollectorLoad, *[naturals] * 4, st.none() | naturals),
    committed=histograms,
    pools=st.lists(pools, max_size=2).map(tuple),
    warming_up=st.booleans(),
    sink=st.text(max_size=20),
    slots=st.lists(st.builds(ExecutorSlots, st.text(), naturals, st.booleans()), max_size=3).map(
        tuple
    ),
    state_sizes=st.lists(
        st.builds(
            StateSize, naturals, st.text(), st.none() | naturals, naturals, st.none() | naturals
        ),
        max_size=3,
    ).map(tuple),
    lag=st.none()
    | st.builds(
        Lag,
        st.none() | naturals,
        st.sampled_from(Basis),
        naturals,
        st.lists(st.builds(PartitionLag, st.text(), naturals), max_size=MOST_NAMED).map(tuple),
    ),
)


def test_the_bytes_of_a_frame_are_these() -> None:
    assert encode(FULL_FRAME).hex() == GOLDEN.hex()


def test_these_bytes_are_that_frame() -> None:
    assert decode(GOLDEN) == FULL_FRAME


@given(frames)
def test_a_frame_comes_back_from_its_bytes(frame: Frame) -> None:
    assert decode(encode(frame)) == frame


@given(frames, st.binary(max_size=40))
def test_a_section_of_a_later_curtail_is_passed_over(frame: Frame, payload: bytes) -> None:
    assert decode(encode(frame) + bytes([99, len(payload)]) + payload) == frame


ONLY = Only(
    sections=frozenset((wire.LATENCY, wire.STAMPED, wire.TASKS, wire.EXECUTORS)),
    metrics=frozenset((1, 9)),
)


def cut(frame: Frame) -> Frame:
    """As far as ONLY goes."""
    return Frame(
        window=frame.window,
        sequence=frame.sequence,
        run_id=frame.run_id,
        latency=frame.latency,
        stamped=frame.stamped,
        tasks=frame.tasks,
        executors=tuple(
            replace(each, metrics={id_: v for id_, v in each.metrics.items() if id_ in (1, 9)})
            for each in frame.executors
        ),
    )


@given(frames)
def test_a_frame_read_in_part_is_that_part_of_it(frame: Frame) -> None:
    assert decode(encode(frame), ONLY) == cut(frame)


def test_what_is_not_asked_for_is_not_looked_into() -> None:
    broken = encode(Frame(1, 2, RUN_ID)) + bytes((wire.COMMITTED, 1, 0xFF))

    assert decode(broken, ONLY) == Frame(1, 2, RUN_ID)
    with pytest.raises(Garbled):
        decode(broken)


def test_executors_that_begin_alike_are_not_taken_for_each_other() -> None:
    hosts = ["worker-of-a-long-name-1", "worker-of-a-long-name-2"]
    frames = [
        Frame(1, 2, RUN_ID, executors=(ExecutorSample("7", host, {1: 5}),) * count)
        for host in hosts
        for count in (1, 2)
    ]

    for frame in frames * 2:
        assert decode(encode(frame)) == frame


def test_a_frame_from_before_skipped_windows_were_counted_is_read() -> None:
    older = GOLDEN.replace(bytes.fromhex("0407 01020304050607"), bytes.fromhex("0406 010203040506"))
    assert decode(older) == replace(FULL_FRAME, health=Health(1, 2, 3, 4, 5, 6, 0))


def test_pools_as_frames_had_them_before_they_could_be_steered_are_passed_over() -> None:
    older = bytes.fromhex("0e0e 01 0173 016e 01 05 01 04 01 0173 00 00")
    assert decode(encode(Frame(1, 2, RUN_ID)) + older) == Frame(1, 2, RUN_ID)


def test_a_pool_of_which_no_shared_queue_is_known_has_empty_ones() -> None:
    [pool] = FULL_FRAME.pools
    unknown = replace(FULL_FRAME, pools=(replace(pool, shared_queued=(), room=()),))
    nothing = replace(pool, shared_queued=(0, 0), room=(0, 0))
    assert decode(encode(unknown)).pools == (nothing,)


def test_a_frame_of_another_version_is_named_as_such() -> None:
    with pytest.raises(UnknownVersion, match="version 2"):
        decode(bytes([wire.MAGIC, 2]) + GOLDEN[2:])


@given(st.binary(max_size=300))
def test_garbage_raises_garbled_and_nothing_else(data: bytes) -> None:
    with pytest.raises(Garbled):
        decode(b"\x00" + data)


@given(st.data())
def test_a_damaged_frame_is_read_or_garbled_but_never_crashes(data: st.DataObject) -> None:
    damaged = bytearray(GOLDEN)
    for _ in range(data.draw(st.integers(1, 8))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    cut = bytes(damaged[: data.draw(st.integers(0, len(damaged)))])
    assert isinstance(read_or_garbled(cut), Frame | Garbled)


def read_or_garbled(data: bytes) -> Frame | Garbled:
    try:
        return decode(data)
    except Garbled as error:
        return error


QUIET = {
    "host_cpu": 62,
    "host_runnable": 2,
    "container_cpu_us": 11_250,
    "container_throttled_us": 0,
    "process_cpu_us": 9_800,
    "process_cores": 4,
    "psi_cpu_some_us": 310,
    "psi_io_some_us": 0,
    "psi_io_full_us": 0,
    "psi_memory_some_us": 0,
    "disk_read_bytes": 0,
    "disk_written_bytes": 16_384,
    "network_received_bytes": 5_400,
    "network_sent_bytes": 7_900,
    "heap_after_gc_bytes": 412_000_000,
    "heap_max_bytes": 8 * 2**30,
    "safepoint_us": 180,
    "clock_ahead_us": -740,
    "container_memory_bytes": 9_400_000_000,
    "container_reclaimable_bytes": 310_000_000,
    "container_limit_bytes": 12 * 2**30,
    "process_resident_bytes": 7_900_000_000,
    "rocksdb_cache_bytes": 640_000_000,
    "rocksdb_pinned_bytes": 2_100_000,
    "rocksdb_memtables_bytes": 96_000_000,
    "rocksdb_readers_bytes": 12_000_000,
}


def quiet(seldom: bool) -> Frame:
    """A frame of a quiet job of four executors; `seldom`, as one in twenty is."""
    assert QUIET.keys() == BY_NAME.keys()
    measured = {BY_NAME[name].id: value for name, value in QUIET.items()}
    if not seldom:
        measured = {id_: value for id_, value in measured.items() if id_ not in SELDOM}
    frame = Frame(
        window=34_000_000_000,
        sequence=1_000_000,
        run_id=RUN_ID,
        latency=Histogram.of(range(50_000, 250_000, 4_000)),
        executors=tuple(
            ExecutorSample(str(n), f"ip-10-0-0-{n}.eu-west-1.compute.internal", measured)
            for n in range(1, 5)
        ),
        health=Health(),
        backlog_rows=0,
        stamped=True,
        state=(OperatorState(0, 0, 0, 3),),
        tasks=TaskCounts(running=4, finished=2),
    )
    if not seldom:
        return frame
    return replace(
        frame,
        sink="ForeachBatchSink",
        slots=tuple(ExecutorSlots(str(n), 4) for n in range(1, 5)),
        state_sizes=(StateSize(0, "stateStoreSave", 4_000_000, 800_000_000, 900_000_000),),
        lag=Lag(1_200, Basis.OFFSETS, 64, tuple(PartitionLag(f"orders-{n}", 90) for n in range(8))),
    )


def test_a_quiet_job_of_four_executors_with_every_metric_takes_less_than_400_bytes() -> None:
    often, seldom = len(encode(quiet(seldom=False))), len(encode(quiet(seldom=True)))
    assert often < 400
    # What changes slowly is in one frame of twenty.
    assert (19 * often + seldom) / 20 < 400
    assert seldom < 800


def test_more_partitions_than_a_frame_may_name_are_garbled() -> None:
    lag = bytes((wire.LAG, 4, 0, 0, 9, MOST_NAMED + 1))
    with pytest.raises(Garbled, match="9 partitions"):
        decode(encode(Frame(1, 2, RUN_ID)) + lag)


def test_a_lag_on_a_basis_of_a_later_curtail_is_read() -> None:
    later = bytes((wire.LAG, 4, 6, 77, 3, 0))
    assert decode(encode(Frame(1, 2, RUN_ID)) + later).lag == Lag(5, Basis.NONE, 3)
