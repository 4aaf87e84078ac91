import io

import pytest

from collectors.process.link import Inbox, Kind, Message, messages


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


@pytest.mark.parametrize("step", [1, 3, 7, 1000])
def test_an_inbox_makes_the_same_of_a_pipe_that_hands_out_pieces(step: int) -> None:
    data = framed(Kind.HELLO, b"{}") + framed(Kind.PART, b"") + framed(77, b"x" * 500)
    inbox = Inbox()
    pieces = (data[at : at + step] for at in range(0, len(data), step))
    found = [message for piece in pieces for message in inbox.messages(piece)]
    assert found == list(messages(io.BytesIO(data)))


def test_an_inbox_too_ends_at_a_length_that_cannot_be() -> None:
    with pytest.raises(ConnectionError, match="4294967295"):
        list(Inbox().messages(b"\xff" * 9))
