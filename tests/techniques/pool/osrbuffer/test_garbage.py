"""Bytes that somebody else wrote into the ring: said, given up, and not looped on."""

import ctypes
import logging
import random

import pytest

from techniques.pool.osrbuffer.layout import (
    IS_READY,
    LENGTH,
    PAGE_BYTES,
    STATUS_BITS,
    TARGET,
)
from techniques.pool.osrbuffer.ring import Ring
from tests.techniques.pool.conftest import MakeRing

UNIT = 64


def write(ring: Ring, unit: int, offset: int, value: int) -> None:
    address = ring._map.base + PAGE_BYTES + unit * UNIT + offset
    ctypes.c_int64.from_address(address).value = value


def filled(make_ring: MakeRing) -> Ring:
    """Messages of two units at 0, 2, 4 and 6 of 16."""
    ring = make_ring(1024)
    for number in range(4):
        ring.send(bytes([number]) * 40)
    return ring


def received(ring: Ring) -> list[int]:
    return [message.body[0] for message in iter(lambda: ring.receive(0), None)]


def goes_on(ring: Ring) -> None:
    for number in range(100):
        assert ring.send(bytes([number]) * 40, timeout_s=0)
        assert received(ring) == [number]


@pytest.mark.parametrize(
    ("offset", "value"),
    [
        (0, -1),
        (0, 0x7777_7777_7777_7777),
        (0, 0),
        (0, IS_READY | 1_000 << STATUS_BITS),
        (LENGTH, 10_000),
        (LENGTH, -1),
        (TARGET, 9),
    ],
    ids=["ones", "sevens", "zero", "too long", "length", "negative length", "target"],
)
def test_a_message_whose_head_is_garbage_is_given_up_and_said(
    make_ring: MakeRing, caplog: pytest.LogCaptureFixture, offset: int, value: int
) -> None:
    ring = filled(make_ring)
    write(ring, 2, offset, value)
    with caplog.at_level(logging.WARNING):
        assert received(ring) == [0, 2, 3]
    assert "garbage at position 2" in caplog.text
    assert ring.garbage == 1
    goes_on(ring)


def test_garbage_where_the_next_message_goes_is_mended_by_who_comes_first(
    make_ring: MakeRing,
) -> None:
    for consumer_first in (True, False):
        ring = filled(make_ring)
        write(ring, 8, 0, -1)
        if consumer_first:
            assert received(ring) == [0, 1, 2, 3]
        assert ring.send(b"\x04", timeout_s=0)
        assert received(ring)[-1] == 4
        assert ring.garbage == 1
        goes_on(ring)


def test_random_bytes_anywhere_never_hang_or_end_a_process(make_ring: MakeRing) -> None:
    chance = random.Random(0)
    for _ in range(60):
        ring = filled(make_ring)
        for _ in range(chance.randrange(1, 6)):
            # Never a living writer's claim, for which one would rightly wait.
            write(ring, chance.randrange(16), 0, chance.getrandbits(60) << 3 | 7)
        received(ring)
        for number in range(20):
            ring.send(bytes([number]) * 40, timeout_s=0)
            received(ring)
        assert ring.send(b"\x2a" * 40, timeout_s=0)
        assert received(ring) == [42]
