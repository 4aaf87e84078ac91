"""Real processes, killed at every step of the protocol, one run per step."""

import ctypes
import os
import signal
from collections.abc import Iterator

import pytest

from techniques.pool.osrbuffer.layout import CONSUMER, LISTENING, WANTED
from techniques.pool.osrbuffer.ring import Ring
from tests.techniques.pool import killing
from tests.techniques.pool.children import ended_by, forked
from tests.techniques.pool.conftest import MakeRing

KILLED = -signal.SIGKILL
CAPACITY_BYTES = 1024
# Of 16 units: a small one, one that no longer fits before the end, one that must wait for room.
BODIES = [b"0" * 30, b"1" * 300, b"2" * 900]
# Far above what any of these takes; a run beyond the last step ends by itself.
STEPS = 200


@pytest.fixture(autouse=True, scope="module")
def _ready_to_kill() -> None:
    """Made once, before the children are forked."""
    killing.entries()


def test_a_producer_killed_at_any_step_costs_at_most_the_message_it_was_writing(
    make_ring: MakeRing,
) -> None:
    killed = 0
    for step in range(STEPS):
        ring = near_the_end(make_ring)
        # As if somebody slept, so that who is killed is also killed while it rings the bell.
        set_word(ring, LISTENING, 1)

        def produce(path: str = ring.path, step: int = step) -> None:
            producer = Ring(path, killing.entries())
            killing.die_before_step(step)
            for body in BODIES:
                producer.send(body, timeout_s=0.001)

        how = ended_by(forked(produce))
        came = list(drained(ring))
        assert came == BODIES[: len(came)]
        assert (ring.skipped, ring.garbage) in ((0, 0), (1, 0))
        goes_on(ring)
        if how == 0:
            assert came == BODIES[:2]
            break
        assert how == KILLED
        killed += 1
    # For each of two messages: two loads, the claim, WRITE, the body, IS_READY and the bell; the
    # flush marker, and the wait of the third.
    assert 25 < killed < STEPS


def test_a_consumer_killed_at_any_step_takes_one_message_with_it_and_the_next_goes_on(
    make_ring: MakeRing,
) -> None:
    killed = 0
    for step in range(STEPS):
        ring = near_the_end(make_ring)
        assert all(ring.send(body, timeout_s=1) for body in BODIES[:2])
        set_word(ring, WANTED, 1)
        read, write = os.pipe()

        def consume(path: str = ring.path, step: int = step, write: int = write) -> None:
            # With one processor it does not spin, which would be many steps of one kind.
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
            consumer = Ring(path, killing.entries())
            killing.die_before_step(step)
            while message := consumer.receive(0.001):
                os.write(write, message.body[:1])

        how = ended_by(forked(consume))
        os.close(write)
        by_the_dead = os.read(read, 100)
        os.close(read)
        came = by_the_dead + b"".join(body[:1] for body in drained(ring))
        missing = [number for number in b"01" if number not in came]
        assert list(came) == sorted(set(came)), "twice, or out of order"
        assert len(missing) <= (1 if how == KILLED else 0)
        if missing:
            # It was on its way to the dead one, behind the last it got.
            assert missing[0] == b"01"[len(by_the_dead)]
        assert (ring.skipped, ring.garbage) == (0, 0)
        goes_on(ring)
        if how == 0:
            break
        killed += 1
    assert 25 < killed < STEPS


def near_the_end(make_ring: MakeRing) -> Ring:
    """An empty ring in whose lap 8 units are left, and that nobody consumes yet."""
    ring = make_ring(CAPACITY_BYTES)
    mover = Ring.attach(ring.path)
    assert mover.send(b"x" * (7 * 64))
    assert mover.receive(0)
    mover.close()
    set_word(ring, CONSUMER, 0)
    return ring


def set_word(ring: Ring, offset: int, value: int) -> None:
    ctypes.c_int64.from_address(ring._map.base + offset).value = value


def drained(ring: Ring) -> Iterator[bytes]:
    """All that comes; a first look may only find that a writer is dead."""
    for _ in range(2):
        while message := ring.receive(0):
            yield message.body


def goes_on(ring: Ring) -> None:
    """All of its room is there again: the largest message needs all of it."""
    whole = b"w" * ring.limit_bytes
    if not ring.send(whole, timeout_s=0):
        # It left the marker at the lap's end, which the consumer has to pass.
        assert ring.receive(0) is None
        assert ring.send(whole, timeout_s=0)
    message = ring.receive(1)
    assert message is not None
    assert message.body == whole
    assert ring.depth() == 0
