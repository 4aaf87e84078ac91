"""The queue from which several processes take turns: each message once, whoever dies or stands."""

import fcntl
import os
import shutil
import signal
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from techniques.pool.chunks import CHUNK, Head, unpacked
from techniques.pool.messages import Parcel
from techniques.pool.shared_queue import LOCK, SharedQueue
from tests.techniques.pool import killing
from tests.techniques.pool.children import ended_by, forked
from tests.waiting import until

CAPACITY_BYTES = 64 * 1024
MESSAGES = 6
# Far above what taking these takes; a run beyond the last step ends by itself.
STEPS = 400
PATIENCE_S = 60


@pytest.fixture
def path() -> Iterator[str]:
    folder = Path("/dev/shm", f"curtail-test-{uuid.uuid4().hex}")
    folder.mkdir()
    made = str(folder / "shared-0")
    SharedQueue.create(made, CAPACITY_BYTES)
    yield made
    shutil.rmtree(folder)


def send(queue: SharedQueue, *numbers: int) -> None:
    for number in numbers:
        head = Head(number, 0, 0, 1, position=0, source=0, kind=CHUNK)
        assert queue.offer(Parcel("/nowhere", head, [b"x" * 100]))


def taken(queue: SharedQueue, timeout_s: float = 0) -> int | None:
    body = queue.take(timeout_s)
    return None if body is None else unpacked(body)[0].chunk


def rest(queue: SharedQueue) -> list[int]:
    return list(iter(lambda: taken(queue), None))


def test_what_is_sent_is_taken_in_its_order(path: str) -> None:
    queue = SharedQueue(path)
    send(queue, 3, 1, 2)
    assert queue.depth() == 3
    assert rest(queue) == [3, 1, 2]
    assert queue.depth() == 0
    assert queue.take(0.001) is None
    queue.close()


def test_several_takers_get_each_message_once(path: str) -> None:
    takers, each = 3, 200
    read, write = os.pipe()

    def take() -> None:
        queue = SharedQueue(path)
        while (number := taken(queue, PATIENCE_S)) != 0:
            if number is not None:
                os.write(write, number.to_bytes(4, "little"))

    pids = [forked(take) for _ in range(takers)]
    os.close(write)
    queue = SharedQueue(path)
    for number in range(1, each + 1):
        until(lambda: queue.depth() < 100, PATIENCE_S, every_s=0.001)
        send(queue, number)
    # One for each, to end with.
    send(queue, *[0] * takers)
    assert [ended_by(pid) for pid in pids] == [0] * takers
    found = b"".join(iter(lambda: os.read(read, 1 << 16), b""))
    os.close(read)
    numbers = [int.from_bytes(found[at : at + 4], "little") for at in range(0, len(found), 4)]
    assert sorted(numbers) == list(range(1, each + 1))
    queue.close()


def test_a_taker_killed_at_any_step_takes_one_message_with_it_and_the_others_go_on() -> None:
    killing.entries()
    killed = 0
    for step in range(STEPS):
        folder = Path("/dev/shm", f"curtail-test-{uuid.uuid4().hex}")
        folder.mkdir()
        path = str(folder / "shared-0")
        SharedQueue.create(path, CAPACITY_BYTES)
        queue = SharedQueue(path)
        send(queue, *range(MESSAGES))
        read, write = os.pipe()

        def take(path: str = path, step: int = step, write: int = write) -> None:
            own = SharedQueue(path, killing.entries())
            killing.die_before_step(step)
            while (number := taken(own)) is not None:
                os.write(write, bytes([number]))

        how = ended_by(forked(take))
        os.close(write)
        by_the_dead = list(os.read(read, 100))
        os.close(read)
        came = by_the_dead + rest(queue)
        assert came == sorted(set(came)), "twice, or out of order"
        assert MESSAGES - len(came) <= (1 if how == -signal.SIGKILL else 0)
        send(queue, 77)
        assert taken(queue) == 77
        queue.close()
        shutil.rmtree(folder)
        if how == 0:
            break
        killed += 1
    assert 25 < killed < STEPS


def test_a_taker_that_stands_still_in_its_turn_holds_up_nobody_for_ever(path: str) -> None:
    queue = SharedQueue(path)
    send(queue, 1)
    turn = os.open(path + LOCK, os.O_WRONLY)
    fcntl.flock(turn, fcntl.LOCK_EX)
    # It goes on with other things, and the message stays for later.
    assert queue.take(0) is None
    os.close(turn)
    assert taken(queue) == 1
    queue.close()


def test_a_message_whose_token_died_with_a_taker_is_found_all_the_same(path: str) -> None:
    queue = SharedQueue(path)
    send(queue, 1)
    tokens = os.open(f"{path}.tokens", os.O_RDONLY | os.O_NONBLOCK)
    assert os.read(tokens, 10) == b"\0"
    os.close(tokens)
    assert taken(queue, PATIENCE_S) == 1
    queue.close()
