"""The frame's section on heavy keys: its bytes are pinned, and anything else is called garbled."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.formats import heavy_keys, wire
from collectors.formats.codec import Garbled, Reader, Writer
from collectors.formats.heavy_keys import KeyRows, WatchedKeys
from tests.factories import FULL_FRAME

WATCHED = (
    WatchedKeys("user_id", 300, (KeyRows("alice", 3, 200), KeyRows("böb", 0, 1))),
    WatchedKeys("user_id, country", 5),
)
# A change here is a change of the format: old frames in Redis and older readers must be thought of.
GOLDEN = bytes.fromhex(
    "02"  # two lists of columns
    "07 757365725f6964 ac02 02"  # user_id, 300 sampled, two keys
    "05 616c696365 03 c801"  # alice in partition 3, 200 rows
    "04 62c3b662 00 01"  # böb in partition 0, one row
    "10 757365725f69642c20636f756e747279 05 00"  # user_id, country: 5 sampled, no key
)

rows = st.integers(1, 2**40)
keys = st.builds(KeyRows, st.text(max_size=9), st.integers(0, 2**31 - 1), rows)
watched = st.builds(
    WatchedKeys, st.text(max_size=9), st.just(2**40), st.lists(keys, max_size=4).map(tuple)
)


def written(told: tuple[WatchedKeys, ...]) -> bytes:
    heavy_keys.write(out := Writer(), told)
    return out.bytes()


def test_the_bytes_are_the_golden_ones() -> None:
    assert written(WATCHED).hex() == GOLDEN.hex()
    assert heavy_keys.read(Reader(GOLDEN)) == WATCHED


@given(st.lists(watched, max_size=3).map(tuple))
def test_a_frame_says_what_was_put_in(told: tuple[WatchedKeys, ...]) -> None:
    frame = replace(FULL_FRAME, heavy_keys=told)
    assert wire.decode(wire.encode(frame)) == frame


@pytest.mark.parametrize(
    "key", [KeyRows("a", 0, 0), KeyRows("a", 0, 301), KeyRows("a", 2**31, 200)]
)
def test_rows_that_were_not_sampled_and_partitions_that_cannot_be_are_garbled(key: KeyRows) -> None:
    data = written((WatchedKeys("user_id", 300, (key,)),))
    with pytest.raises(Garbled, match="of 300 in partition"):
        heavy_keys.read(Reader(data))


@given(st.integers(0, len(GOLDEN) - 1))
def test_a_section_that_is_cut_off_is_garbled(length: int) -> None:
    with pytest.raises(Garbled):
        heavy_keys.read(Reader(GOLDEN[:length]))
