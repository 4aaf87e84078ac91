import pytest

from collectors.process.link import Inbox, Message, MessageKind

DATA = b"".join(
    len(payload).to_bytes(4, "big") + bytes([kind]) + payload
    for kind, payload in ((MessageKind.HELLO, b"{}"), (MessageKind.PART, b""), (77, b"x" * 500))
)
MESSAGES = [
    Message(MessageKind.HELLO, b"{}"),
    Message(MessageKind.PART, b""),
    Message(77, b"x" * 500),
]


@pytest.mark.parametrize("step", [1, 3, 7, 1000])
def test_messages_come_whole_from_a_pipe_that_hands_out_pieces(step: int) -> None:
    inbox = Inbox()
    pieces = (DATA[at : at + step] for at in range(0, len(DATA), step))
    assert [message for piece in pieces for message in inbox.messages(piece)] == MESSAGES


@pytest.mark.parametrize("cut", [1, 4, 5, 499])
def test_a_message_cut_by_the_end_is_not_delivered(cut: int) -> None:
    assert list(Inbox().messages(DATA[:-cut])) == MESSAGES[:-1]


def test_a_length_that_cannot_be_ends_the_link() -> None:
    with pytest.raises(ConnectionError, match="4294967295"):
        list(Inbox().messages(b"\xff" * 9))
