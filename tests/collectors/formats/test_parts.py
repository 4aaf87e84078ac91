import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.formats.buckets import Histogram
from collectors.formats.codec import Garbled
from collectors.formats.parts import (
    Event,
    EventSource,
    Latencies,
    Losses,
    Part,
    TaskLatencies,
    UsedPool,
    decode,
)
from collectors.formats.pools import InstanceSample, InstanceState, PoolSample, Sent

# What probe/link/Wire.scala writes for this part; test_probe_formats.py holds the probe to it.
GOLDEN = bytes.fromhex(
    "07"  # version
    "cbc9a0e38001"  # window
    "0137"  # executor id
    "066e6f64652d61"  # host
    "02 03 04"  # records, parts, events lost
    "02 01 ee05 02 09"  # metrics: 1 = 375, 2 = -5
    "01"  # one query
    "0471756572"  # its id
    "01"  # one window ago
    "03 0002 4005 b00a01"  # buckets 0, 64, 1392
    "01 0471756572 0c ac02 05 d209"  # one task: query, batch, stage, partition, attempt
    "a0bac5a4f3fe8803"  # its reference
    "01 ff2f09"  # fine bucket 6143
    "01 01 f0c0c8a4f3fe8803 0573746f7265 027b7d"  # one event
    "01 0573636f7265 066e6f64652d61"  # one pool: its name and host
    "04 06 02 ac02"  # policy, chunks held, instances replaced, chunks handed out again
    "09 03 02 01"  # chunks sent, replayed, replays won, results dropped
    "a8c002 01 50"  # timeout, replay, tau
    "02 06656e72696368 07 0c 0472616e6b 00 00"  # operators, their shared queues, their room
    "02 00 02 03 04 01 8020 a01f e8fe02"  # an instance
    "08 c413 01 05"  # its outgoing queue, weight, signal, chunks dropped
    "03 0002 4005 b00a01"  # its latencies
    "01 01 00 00 00 00 00 00 00 00 00 00 00"  # one that starts
    "02 00 00 05 01 01 04"  # pairs
    "01 0471756572"  # the one query that uses it
)

PART = Part(
    window=34_567_890_123,
    executor_id="7",
    host="node-a",
    losses=Losses(records=2, parts=3, events=4),
    metrics={1: 375, 2: -5},
    latencies=(Latencies("quer", 34_567_890_122, Histogram({0: 2, 64: 5, 1392: 1})),),
    tasks=(TaskLatencies("quer", 12, 300, 5, 1_234, 1_728_394_506_100_000, Histogram({6143: 9})),),
    events=(Event(EventSource.ROCKSDB, 1_728_394_506_150_000, "store", "{}"),),
    pools=(
        UsedPool(
            PoolSample(
                name="score",
                host="node-a",
                policy=4,
                operators=("enrich", "rank"),
                instances=(
                    InstanceSample(
                        operator=0,
                        state=InstanceState.READY,
                        queued=3,
                        executed=4,
                        failed=1,
                        rows_in=4096,
                        rows_out=4000,
                        busy_us=49_000,
                        latency=Histogram({0: 2, 64: 5, 1392: 1}),
                        parked=8,
                        weight=2_500,
                        signal=1,
                        dropped=5,
                    ),
                    InstanceSample(operator=1, state=InstanceState.STARTING),
                ),
                sent=(Sent(0, 0, 5), Sent(1, 1, 4)),
                held_chunks=6,
                replaced=2,
                handed_out_again=300,
                chunks_sent=9,
                replayed=3,
                replays_won=2,
                results_dropped=1,
                timeout_us=41_000,
                replay=1,
                tau_ms=80,
                shared_queued=(7, 0),
                room=(12, 0),
            ),
            frozenset({"quer"}),
        ),
    ),
)


def test_these_bytes_are_that_part() -> None:
    assert decode(GOLDEN) == PART


def test_a_part_of_another_version_is_refused() -> None:
    with pytest.raises(Garbled, match="version 9"):
        decode(b"\x09" + GOLDEN[1:])


def test_bytes_behind_a_part_are_refused() -> None:
    with pytest.raises(Garbled, match="too many"):
        decode(GOLDEN + b"\x00")


@given(st.integers(0, len(GOLDEN) - 1))
def test_a_cut_part_is_refused(length: int) -> None:
    with pytest.raises(Garbled):
        decode(GOLDEN[:length])
