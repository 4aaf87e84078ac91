"""Reading and closing windows on one thread, on a real pipe with a clock of our own."""

import os
import threading
from collections.abc import Iterator

import pytest

from collectors.process import pace
from collectors.process.link import Message, MessageKind
from tests.waiting import until


class Clock:
    """Goes when it is told to."""

    def __init__(self) -> None:
        self.now = 1_000_000

    def __call__(self) -> int:
        return self.now


class Served:
    def __init__(self) -> None:
        self.clock = Clock()
        self.heard: list[Message] = []
        self.ticks: list[int] = []
        self._out, self.pipe = os.pipe()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def say(self, *payloads: bytes) -> None:
        framed = (
            len(each).to_bytes(4, "big") + bytes([MessageKind.PART]) + each for each in payloads
        )
        os.write(self.pipe, b"".join(framed))

    def end(self) -> None:
        os.close(self.pipe)
        self._thread.join(10)
        assert not self._thread.is_alive()
        os.close(self._out)

    def _run(self) -> None:
        pace.serve(
            self._out, self.heard.append, lambda: self.ticks.append(self.clock()), self.clock
        )


@pytest.fixture
def served() -> Iterator[Served]:
    made = Served()
    yield made
    made.end()


def test_messages_are_handled_as_they_come(served: Served) -> None:
    served.say(b"one", b"two")
    until(lambda: len(served.heard) == 2)
    assert served.heard == [Message(MessageKind.PART, b"one"), Message(MessageKind.PART, b"two")]


def test_the_message_that_comes_when_it_is_time_closes_windows_after_it_is_heard(
    served: Served,
) -> None:
    served.clock.now += pace.TICK_MS
    served.say(b"part")
    until(lambda: served.ticks)
    assert len(served.heard) == 1
    assert served.ticks == [served.clock.now]


def test_windows_are_closed_when_nobody_says_anything(served: Served) -> None:
    served.clock.now += pace.TICK_MS + pace.PATIENCE_MS
    until(lambda: served.ticks)
    assert not served.heard


def test_a_clock_that_is_set_back_does_not_stop_the_closing(served: Served) -> None:
    served.clock.now -= 3_600_000
    until(lambda: served.ticks)
