from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.formats.activity import Activity, Kind, TaskFacts, decode, encode
from collectors.formats.codec import Garbled
from tests.factories import ACTIVITIES

# A change here is a change of the format: old entries in Redis must be thought of.
GOLDEN = bytes.fromhex(
    "ca01 02"  # activities of version 1, two of them
    "02 8080f9c0c1c48203 c096b102 0131 01 04 0764656661756c74"  # a compaction …
    "0f4c6576656c4c3046696c65734e756d 818040 818020"  # … with its reason and bytes
    "03 8080f9c0c1c48203 b817 0131 00 00 03473179 00 00 00"  # a GC pause
)

# As the bytes of an earlier Curtail, which had nothing after its activities.
TASK = "08 8080f9c0c1c48203 c096b102 0131 00 04 0773746167652037 00 00 00"
TASK_GOLDEN = bytes.fromhex(
    f"ca01 02 {TASK} {TASK}"
    "01 01 07 01 02 04 01"  # the second is of stage 7, tried again, anywhere, speculative
)
# With the place of its stage in its batch, 2, and 300 ms that it waited; it uses a state store.
STAGE_GOLDEN = TASK_GOLDEN[:-1] + bytes.fromhex("05 03 ad02")

naturals = st.integers(min_value=0, max_value=2**50)
integers = st.integers(min_value=0, max_value=2**31 - 1)
tasks = st.builds(
    TaskFacts,
    *([integers] * 4),
    *([st.booleans()] * 4),
    kind=st.none() | integers,
    waited_ms=st.none() | integers,
)
activities = st.builds(
    lambda kind, start, length, *rest: Activity(kind, start, start + length, *rest),
    st.sampled_from(Kind),
    naturals,
    naturals,
    st.text(),
    st.none() | integers,
    st.none() | integers,
    st.text(),
    st.text(),
    st.none() | naturals,
    st.none() | naturals,
    st.none() | tasks,
)


def test_the_bytes_of_activities_are_these() -> None:
    assert encode(ACTIVITIES).hex() == GOLDEN.hex()
    assert decode(GOLDEN) == ACTIVITIES


def test_what_is_known_of_tasks_comes_after_all_activities() -> None:
    plain, detailed = decode(TASK_GOLDEN)

    assert plain.task is None
    assert detailed.task == TaskFacts(7, 1, 2, 4, speculative=True, successful=False)
    assert decode(TASK_GOLDEN, with_tasks=False) == (plain, plain)


def test_the_place_of_a_tasks_stage_comes_after_what_an_earlier_reader_knows() -> None:
    plain, detailed = decode(STAGE_GOLDEN)

    assert detailed.task == TaskFacts(
        7, 1, 2, 4, speculative=True, successful=False, stateful=True, kind=2, waited_ms=300
    )
    assert encode((plain, detailed)) == STAGE_GOLDEN


def numbered(**changes: int) -> bytes:
    return encode([replace(ACTIVITIES[0], **changes)])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "data",
    [
        numbered(operator=2**64),
        numbered(partition=2**31),
        numbered(input_bytes=2**63),
        numbered(output_bytes=2**63),
        numbered(start_us=2**53, end_us=2**53),
        TASK_GOLDEN[:-6] + b"\x02" + TASK_GOLDEN[-5:],
        TASK_GOLDEN[:-5] + b"\x80\x80\x80\x80\x08" + TASK_GOLDEN[-4:],
        STAGE_GOLDEN[:-3] + b"\x81\x80\x80\x80\x08" + STAGE_GOLDEN[-2:],
        STAGE_GOLDEN[:-2],
    ],
    ids=[
        *["operator", "partition", "bytes in", "bytes out", "time", "no such task", "stage"],
        *["place of the stage", "no wait"],
    ],
)
def test_numbers_that_spark_cannot_have_are_garbled(data: bytes) -> None:
    with pytest.raises(Garbled):
        decode(data)


@given(st.lists(activities, max_size=5).map(tuple))
def test_activities_come_back_from_their_bytes(several: tuple[Activity, ...]) -> None:
    assert decode(encode(several)) == several


@pytest.mark.parametrize(
    "data",
    [b"", b"\x00", b"\xca\x02\x00", b"\xca\x01\x01\x63", GOLDEN[:-1], TASK_GOLDEN[:-1]],
    ids=["empty", "something else", "another version", "unknown kind", "cut", "cut task"],
)
def test_what_is_none_is_garbled(data: bytes) -> None:
    with pytest.raises(Garbled):
        decode(data)
