"""A ring of the test's own in shared memory."""

import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from techniques.pool.osrbuffer.ring import Ring

MakeRing = Callable[[int], Ring]


@pytest.fixture
def make_ring() -> Iterator[MakeRing]:
    made: list[Ring] = []

    def make(capacity_bytes: int) -> Ring:
        made.append(Ring.create(f"/dev/shm/curtail-test-{uuid.uuid4().hex}", capacity_bytes))
        return made[-1]

    yield make
    for ring in made:
        with suppress(FileNotFoundError):
            ring.unlink()
        ring.close()
