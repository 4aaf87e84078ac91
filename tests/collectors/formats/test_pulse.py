from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.formats import pulse
from collectors.formats.coarse_buckets import COARSE_BUCKETS, Coarse
from collectors.formats.codec import Garbled
from collectors.formats.collector_load import CollectorLoad
from collectors.formats.latency import Source
from collectors.formats.pulse import BIN_MS, MAX_BYTES, MOST_BINS, Pulse, Recent, decode, encode
from collectors.formats.wire import Health
from tests.factories import PULSE, START_MS

# A change here is a change of the format: a server of another version reads these hashes.
GOLDEN = bytes.fromhex(
    "cb0102"  # a pulse of version 1, of records
    "8af801 02 0203"  # processed: 31 754 µs in the first two buckets
    "0000"  # committed: nothing
    "904e 03 000001"  # batch durations: 10 000 µs in the third
    "a01f 07 03 02 01"  # rows in, batches, flushes, compactions, failed tasks
    "07 01020304050607"  # health
    "0a ac02 05 06 808022 818010"  # collector
    "b1ea01"  # busy
    "01"  # backlog
    "80fd8751"  # the last bin
    "03 e9a708 00 8af801"  # three bins
    "01"  # warming up
)

naturals = st.integers(min_value=0, max_value=2**53)
coarse = st.builds(
    Coarse, st.lists(naturals, min_size=88, max_size=88).map(tuple) | st.just((0,) * 88), naturals
)
pulses = st.builds(
    Pulse,
    source=st.sampled_from(Source),
    processed=coarse,
    committed=coarse,
    batch_durations=coarse,
    rows_in=naturals,
    batches=naturals,
    flushes=naturals,
    compactions=naturals,
    failed_tasks=naturals,
    health=st.builds(Health, *[naturals] * 7),
    load=st.builds(CollectorLoad, *[naturals] * 4, st.none() | naturals),
    busy_share=st.none() | st.integers(0, 2_000_000).map(lambda ppm: ppm / 1_000_000),
    backlog_rows=st.none() | naturals,
    recent=st.builds(
        Recent,
        st.integers(0, 2**40).map(lambda number: number * BIN_MS),
        st.lists(st.none() | naturals, max_size=MOST_BINS).map(tuple),
    ),
    warming_up=st.booleans(),
)


def test_the_bytes_of_a_pulse_are_these() -> None:
    assert encode(PULSE).hex() == GOLDEN.hex()


def test_these_bytes_are_that_pulse() -> None:
    assert decode(GOLDEN) == PULSE


@given(pulses)
def test_a_pulse_comes_back_from_its_bytes(made: Pulse) -> None:
    assert decode(encode(made)) == made


@given(st.binary(max_size=40))
def test_what_a_later_curtail_adds_at_the_end_is_passed_over(more: bytes) -> None:
    assert decode(GOLDEN + more) == PULSE


def test_a_pulse_without_the_newest_total_of_health_is_read() -> None:
    older = GOLDEN.replace(bytes.fromhex("07 01020304050607"), bytes.fromhex("06 010203040506"))
    assert decode(older).health == Health(1, 2, 3, 4, 5, 6, 0)


def test_a_pulse_of_a_curtail_that_knew_no_warm_up_is_of_a_steady_run() -> None:
    assert decode(GOLDEN[:-1]) == replace(PULSE, warming_up=False)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xcb",
        b"\xcb\x02" + GOLDEN[2:],
        b"\xcb\x01\x03" + GOLDEN[3:],
        GOLDEN[:-2],
        bytes([pulse.MAGIC, 1, 0, 0, COARSE_BUCKETS + 1]) + bytes(500),
        encode(Pulse())[:-2] + bytes([MOST_BINS + 1]) + bytes(MOST_BINS + 1),
    ],
    ids=["empty", "short", "later", "source", "cut", "buckets", "bins"],
)
def test_what_is_no_pulse_is_garbled(data: bytes) -> None:
    with pytest.raises(Garbled):
        decode(data)


@given(st.data())
def test_a_damaged_pulse_is_read_or_garbled_but_never_crashes(data: st.DataObject) -> None:
    damaged = bytearray(GOLDEN)
    for _ in range(data.draw(st.integers(1, 8))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    cut = bytes(damaged[: data.draw(st.integers(0, len(damaged)))])
    assert isinstance(read_or_garbled(cut), Pulse | Garbled)


def read_or_garbled(data: bytes) -> Pulse | Garbled:
    try:
        return decode(data)
    except Garbled as error:
        return error


def test_the_largest_pulse_stays_within_its_bound() -> None:
    most = 2**64 - 2
    full = Coarse((most,) * COARSE_BUCKETS, most)
    largest = Pulse(
        Source.RECORD,
        *(full,) * 3,
        *(most,) * 5,
        health=Health(*(most,) * 7),
        load=CollectorLoad(*(most,) * 5),
        busy_share=64.0,
        backlog_rows=most,
        recent=Recent(most // BIN_MS * BIN_MS, (most,) * MOST_BINS),
        warming_up=True,
    )
    assert decode(encode(largest)) == largest
    assert len(encode(largest)) <= MAX_BYTES < 4_096


def test_a_busy_job_of_a_week_takes_less_than_a_kilobyte() -> None:
    # 10 000 records a second spread over six octaves, a batch a second, all bins known.
    records = (0,) * 20 + (250_000_000,) * 24 + (0,) * 44
    batches = (0,) * 30 + (50_000,) * 12 + (0,) * 46
    week = Pulse(
        Source.RECORD,
        Coarse(records, 10**15),
        Coarse(records, 10**15),
        Coarse(batches, 10**12),
        6_000_000_000,
        600_000,
        600_000,
        60_000,
        health=Health(late_parts=500),
        load=CollectorLoad(12_000_000, 60_000_000, 0, 15_000_000_000, 40_000_000),
        busy_share=0.025,
        backlog_rows=100_000,
        recent=Recent(START_MS, (250_000,) * MOST_BINS),
    )
    assert len(encode(week)) < 1_000


def test_bins_are_told_by_the_start_of_the_first_as_well() -> None:
    recent = Recent(START_MS, (1, None, 3))
    assert recent.start_ms == START_MS - 2 * BIN_MS
