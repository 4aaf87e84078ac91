import io

import pytest

from collectors.link import Kind, Message, messages


def framed(kind: int, payload: bytes) -> bytes:
    return len(payload).to_bytes(4, "big") + bytes([kind]) + payload


def test_messages_come_one_by_one_until_the_pipe_ends() -> None:
    pipe = io.BytesIO(framed(Kind.HELLO, b"{}") + framed(Kind.PART, b"") + framed(77, b"x" * 1000))
    assert list(messages(pipe)) == [
        Message(Kind.HELLO, b"{}"),
        Message(Kind.PART, b""),
        Message(77, b"x" * 1000),
    ]


@pytest.mark.parametrize("cut", [1, 4, 5, 7])
def test_a_message_cut_by_the_end_is_not_delivered(cut: int) -> None:
    assert list(messages(io.BytesIO(framed(Kind.PART, b"abcd")[:cut]))) == []


def test_a_length_that_cannot_be_ends_the_link() -> None:
    with pytest.raises(ConnectionError, match="4294967295"):
        list(messages(io.BytesIO(b"\xff" * 9)))
