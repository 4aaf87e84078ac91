"""What producers and the consumer of a ring see, in one process and in several."""

import os
import random
import signal
import threading
import time
from collections import deque
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from techniques.pool.osrbuffer.errors import NotARing, Taken
from techniques.pool.osrbuffer.ring import Message, Ring
from tests.techniques.pool.children import ended_by, forked
from tests.techniques.pool.conftest import MakeRing
from tests.waiting import until


def test_a_message_comes_with_its_target(make_ring: MakeRing) -> None:
    ring = make_ring(4096)
    assert ring.send(b"body", target=-7)
    assert ring.depth() == 1
    assert ring.receive(0) == Message(-7, b"body")
    assert ring.depth() == 0


def test_parts_are_written_back_to_back_from_any_buffer(make_ring: MakeRing) -> None:
    ring = make_ring(4096)
    assert ring.send([b"a", bytearray(b"bc"), memoryview(b"xdefx")[1:4], b""], target=2)
    assert ring.send(memoryview(b"alone"))
    assert ring.send([])
    assert [ring.receive(0) for _ in range(3)] == [(2, b"abcdef"), (0, b"alone"), (0, b"")]


def test_the_largest_message_fits_and_a_larger_one_never_does(make_ring: MakeRing) -> None:
    ring = make_ring(100_000)
    for _ in range(3):
        body = os.urandom(ring.limit_bytes)
        assert ring.send(body, timeout_s=0)
        assert ring.receive(0) == (0, body)
    with pytest.raises(ValueError, match="never fits"):
        ring.send(bytes(ring.limit_bytes + 1))


def test_without_room_a_send_gives_up_in_time_and_overwrites_nothing(make_ring: MakeRing) -> None:
    ring = make_ring(1024)
    sent = 0
    while ring.send(bytes([sent]) * 100, timeout_s=0):
        sent += 1
    began_s = time.monotonic()
    assert not ring.send(b"x" * 100, timeout_s=0.1)
    assert time.monotonic() - began_s >= 0.1
    came = [message.body for message in iter(lambda: ring.receive(0), None)]
    assert came == [bytes([number]) * 100 for number in range(sent)]


def test_a_receive_that_gets_nothing_ends_in_time(make_ring: MakeRing) -> None:
    ring = make_ring(1024)
    began_s = time.monotonic()
    assert ring.receive(0.1) is None
    assert time.monotonic() - began_s >= 0.1


@given(
    sizes=st.lists(st.integers(0, 1_000), min_size=1, max_size=60),
    capacity=st.integers(1_100, 5_000),
    reads=st.randoms(use_true_random=False),
)
@settings(max_examples=60, deadline=None)
def test_any_sizes_in_any_capacity_come_as_they_were_sent(
    sizes: list[int], capacity: int, reads: random.Random
) -> None:
    ring = Ring.create(f"/dev/shm/curtail-test-{os.getpid()}-{time.monotonic_ns()}", capacity)
    try:
        waiting: deque[bytes] = deque()
        for number, size in enumerate(sizes):
            body = bytes([number]) * size
            while not ring.send(body, timeout_s=0):
                # Sometimes the only thing in the way is the marker at the lap's end.
                message = ring.receive(0)
                assert (message.body if message else None) == (
                    waiting.popleft() if waiting else None
                )
            waiting.append(body)
            while waiting and reads.random() < 0.4:
                message = ring.receive(0)
                assert message is not None
                assert message.body == waiting.popleft()
        assert [message.body for message in iter(lambda: ring.receive(0), None)] == list(waiting)
    finally:
        ring.unlink()
        ring.close()


def test_processes_that_send_at_once_lose_nothing_and_keep_their_order(make_ring: MakeRing) -> None:
    ring, producers, messages = make_ring(20_000), 3, 2_000

    def produce(producer: int) -> None:
        mine, sizes = Ring.attach(ring.path), random.Random(producer)
        for number in range(messages):
            size = sizes.randrange(3_000)
            assert mine.send([number.to_bytes(4, "little"), bytes([producer]) * size], producer)

    children = [forked(lambda each=each: produce(each)) for each in range(producers)]  # type: ignore[misc]
    seen = [0] * producers
    for _ in range(producers * messages):
        message = ring.receive(30)
        assert message is not None, f"after {seen}"
        number = int.from_bytes(message.body[:4], "little")
        assert number == seen[message.target]
        assert message.body[4:] == bytes([message.target]) * (len(message.body) - 4)
        seen[message.target] += 1
    assert [ended_by(child) for child in children] == [0] * producers
    assert (ring.receive(0), ring.skipped, ring.garbage) == (None, 0, 0)


def test_threads_of_one_process_may_send_at_once(make_ring: MakeRing) -> None:
    ring, messages = make_ring(4096), 300

    def produce(target: int) -> None:
        for number in range(messages):
            assert ring.send(str(number).encode(), target)

    threads = [threading.Thread(target=produce, args=(each,)) for each in range(3)]
    for thread in threads:
        thread.start()
    seen = [0] * 3
    for _ in range(3 * messages):
        message = ring.receive(30)
        assert message is not None
        assert message.body == str(seen[message.target]).encode()
        seen[message.target] += 1
    for thread in threads:
        thread.join()


def test_no_wake_up_is_lost_between_two_that_wait_for_each_other(make_ring: MakeRing) -> None:
    there, back = make_ring(1024), make_ring(1024)

    def echo() -> None:
        mine, answers = Ring.attach(there.path), Ring.attach(back.path)
        while (message := mine.receive(30)) and message.body:
            answers.send(message.body)

    child = forked(echo)
    for number in range(3_000):
        there.send(str(number).encode())
        # A lost wake-up would be made up for after a slice of 50 ms: 3 000 of them take minutes.
        assert back.receive(30) == (0, str(number).encode())
    there.send(b"")
    assert ended_by(child) == 0


def test_producers_killed_at_any_moment_leave_the_others_messages_whole(
    make_ring: MakeRing,
) -> None:
    ring, kills = make_ring(8_192), 25

    def produce(target: int) -> None:
        mine, number = Ring.attach(ring.path), 0
        while True:
            mine.send([number.to_bytes(4, "little"), bytes([target]) * (number % 1_500)], target)
            number += 1

    seen: dict[int, int] = {}

    def take(messages: int) -> None:
        for _ in range(messages):
            message = ring.receive(30)
            assert message is not None, "the ring stands still"
            number = int.from_bytes(message.body[:4], "little")
            assert number == seen.get(message.target, -1) + 1
            assert message.body[4:] == bytes([message.target]) * (number % 1_500)
            seen[message.target] = number

    running: deque[int] = deque()
    for target in range(kills):
        running.append(forked(lambda target=target: produce(target)))  # type: ignore[misc]
        take(100)
        if len(running) > 2:
            os.kill(running[0], signal.SIGKILL)
            assert ended_by(running.popleft()) == -signal.SIGKILL
    for child in running:
        os.kill(child, signal.SIGKILL)
        ended_by(child)
    # The dead are looked for a hundred times a second, and not more often.
    until(lambda: ring.receive(0) is None and ring.depth() == 0)
    assert ring.garbage == 0
    assert ring.skipped <= kills


def test_a_writer_that_only_stands_still_is_waited_for(make_ring: MakeRing) -> None:
    ring = make_ring(4_096)

    def produce() -> None:
        mine = Ring.attach(ring.path)
        while True:
            mine.send(b"x" * 3_000)

    child = forked(produce)
    try:
        assert ring.receive(30)
        os.kill(child, signal.SIGSTOP)
        until(lambda: b"T (stopped)" in Path(f"/proc/{child}/status").read_bytes())
        while ring.receive(0.05):
            pass
        assert ring.skipped == 0
        os.kill(child, signal.SIGCONT)
        assert ring.receive(30) == (0, b"x" * 3_000)
    finally:
        os.kill(child, signal.SIGKILL)
        ended_by(child)


def test_a_second_consumer_is_refused_while_the_first_lives_and_takes_over_after(
    make_ring: MakeRing,
) -> None:
    ring = make_ring(4_096)
    for body in (b"first", b"second"):
        ring.send(body)

    def consume() -> None:
        mine = Ring.attach(ring.path)
        assert mine.receive(30) == (0, b"first")
        os.kill(os.getpid(), signal.SIGSTOP)

    child = forked(consume)
    os.waitid(os.P_PID, child, os.WSTOPPED | os.WNOWAIT)
    with pytest.raises(Taken, match=str(child)):
        ring.receive(0)
    os.kill(child, signal.SIGKILL)
    assert ended_by(child) == -signal.SIGKILL
    assert ring.receive(0) == (0, b"second")


def looked(ring: Ring, timeout_s: float = 0) -> bytes | None:
    body = ring.look(timeout_s)
    return None if body is None else bytes(body)


@pytest.mark.parametrize("size", [300, 50_000])
def test_a_message_is_looked_at_in_place_until_the_next_is_asked_for(
    make_ring: MakeRing, size: int
) -> None:
    ring = make_ring(200_000)
    for letter in (b"a", b"b"):
        ring.send(letter * size)
    first = ring.look(0)
    assert first is not None
    assert bytes(first) == b"a" * size
    assert looked(ring) == b"b" * size
    with pytest.raises(ValueError, match="released"):
        bytes(first)
    assert ring.look(0) is None
    assert ring.depth() == 0


def test_copies_come_in_order_with_what_is_looked_at(make_ring: MakeRing) -> None:
    ring = make_ring(400_000)
    large = [letter * 50_000 for letter in (b"a", b"b", b"c")]
    for body in (large[0], b"one", b"two", b"three", large[1], large[2]):
        ring.send(body)
    assert looked(ring) == large[0]
    assert [looked(ring), ring.receive(0), looked(ring)] == [b"one", (0, b"two"), b"three"]
    assert ring.receive(0) == (0, large[1])
    assert looked(ring) == large[2]
    ring.close()


def test_who_is_killed_with_a_large_message_in_hand_has_not_taken_it(make_ring: MakeRing) -> None:
    ring = make_ring(400_000)
    large = [b"a" * 50_000, b"b" * 50_000]
    for body in large:
        ring.send(body)

    def look() -> None:
        mine = Ring.attach(ring.path)
        assert looked(mine, 30) == large[0]
        os.kill(os.getpid(), signal.SIGKILL)

    assert ended_by(forked(look)) == -signal.SIGKILL
    assert [ring.receive(0), ring.receive(0)] == [(0, large[0]), (0, large[1])]


def test_a_child_of_fork_sends_in_its_own_name(make_ring: MakeRing) -> None:
    ring = make_ring(4_096)
    ring.send(b"parent")
    assert ended_by(forked(lambda: ring.send(b"child"))) == 0
    assert [ring.receive(0), ring.receive(0)] == [(0, b"parent"), (0, b"child")]


@pytest.fixture
def not_a_ring(tmp_path: Path) -> Path:
    path = tmp_path / "ring"
    path.write_bytes(b"?" * 8_192)
    return path


def test_a_file_that_is_no_ring_is_refused(not_a_ring: Path) -> None:
    with pytest.raises(NotARing, match="no ring of this version"):
        Ring.attach(str(not_a_ring))
    not_a_ring.write_bytes(b"short")
    with pytest.raises(NotARing, match="only 5 bytes"):
        Ring.attach(str(not_a_ring))
    with pytest.raises(FileNotFoundError):
        Ring.attach(str(not_a_ring) + "-missing")


def test_a_ring_may_be_a_file_on_disk(tmp_path: Path) -> None:
    ring = Ring.create(str(tmp_path / "ring"), 10_000)
    assert ring.send(b"body")
    assert ring.receive(0) == (0, b"body")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ring", "ring.bell"]
    ring.unlink()
    ring.close()
    assert list(tmp_path.iterdir()) == []
