import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.formats.codec import Garbled, Reader, Writer


@given(st.integers(min_value=0, max_value=2**64 - 1))
def test_an_integer_comes_back(value: int) -> None:
    (out := Writer()).varint(value)
    assert Reader(out.bytes()).varint() == value


@given(st.lists(st.integers(min_value=0, max_value=2**64 - 1)), st.binary())
def test_many_integers_come_back_and_nothing_behind_them_is_touched(
    values: list[int], behind: bytes
) -> None:
    out = Writer()
    for value in values:
        out.varint(value)
    reader = Reader(out.bytes() + behind)
    assert reader.varints(len(values)) == values
    assert reader.left == len(behind)


@given(st.lists(st.integers(min_value=0, max_value=2**64 - 1), min_size=1), st.data())
def test_some_of_many_integers_are_those(values: list[int], data: st.DataObject) -> None:
    out = Writer()
    for value in (*values, 300):
        out.varint(value)
    places = tuple(sorted(data.draw(st.sets(st.integers(0, len(values) - 1)))))
    reader = Reader(out.bytes())

    assert reader.picked(len(values), places) == [values[at] for at in places]
    assert reader.varint() == 300


def test_too_few_integers_or_one_without_end_are_garbled() -> None:
    for data, count in ((b"\x01", 2), (b"\x01\x80", 2), (b"\x80" * 11 + b"\x01", 1)):
        with pytest.raises(Garbled):
            Reader(data).picked(count, (0,))


@given(st.text())
def test_a_text_comes_back(value: str) -> None:
    (out := Writer()).text(value)
    assert Reader(out.bytes()).text() == value


def test_a_negative_number_is_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        Writer().varint(-1)


@pytest.mark.parametrize(
    "data",
    [b"", b"\x80", b"\x80" * 11, b"\x05abc", b"\x02\xff\xfe"],
    ids=["empty", "cut integer", "endless integer", "cut text", "text that is not UTF-8"],
)
def test_what_is_no_text_raises_garbled(data: bytes) -> None:
    with pytest.raises(Garbled):
        Reader(data).text()
