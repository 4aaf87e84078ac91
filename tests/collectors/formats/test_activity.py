import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.formats.activity import Activity, Kind, decode, encode
from collectors.formats.codec import Garbled
from tests.factories import ACTIVITIES

# A change here is a change of the format: old entries in Redis must be thought of.
GOLDEN = bytes.fromhex(
    "ca01 02"  # activities of version 1, two of them
    "02 8080f9c0c1c48203 c096b102 0131 01 04 0764656661756c74"  # a compaction …
    "0f4c6576656c4c3046696c65734e756d 818040 818020"  # … with its reason and bytes
    "03 8080f9c0c1c48203 b817 0131 00 00 03473179 00 00 00"  # a GC pause
)

naturals = st.integers(min_value=0, max_value=2**50)
activities = st.builds(
    lambda kind, start, length, *rest: Activity(kind, start, start + length, *rest),
    st.sampled_from(Kind),
    naturals,
    naturals,
    st.text(),
    st.none() | naturals,
    st.none() | naturals,
    st.text(),
    st.text(),
    st.none() | naturals,
    st.none() | naturals,
)


def test_the_bytes_of_activities_are_these() -> None:
    assert encode(ACTIVITIES).hex() == GOLDEN.hex()
    assert decode(GOLDEN) == ACTIVITIES


@given(st.lists(activities, max_size=5).map(tuple))
def test_activities_come_back_from_their_bytes(several: tuple[Activity, ...]) -> None:
    assert decode(encode(several)) == several


@pytest.mark.parametrize(
    "data",
    [b"", b"\x00", b"\xca\x02\x00", b"\xca\x01\x01\x63", GOLDEN[:-1]],
    ids=["empty", "something else", "another version", "unknown kind", "cut"],
)
def test_what_is_none_is_garbled(data: bytes) -> None:
    with pytest.raises(Garbled):
        decode(data)
