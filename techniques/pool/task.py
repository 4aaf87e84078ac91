"""A Spark task's side of the pool: cuts batches into chunks, hands them out, emits the results.

It takes no new chunk while its window is full or its share of the pool's memory is used up. So a
slow pool slows Spark down (backpressure), and does not fill memory.
"""

from collections.abc import Iterable, Iterator
from uuid import UUID

import pyarrow as pa

from techniques.pool import chunks
from techniques.pool.kept import Chunk, Done
from techniques.pool.owner import LOOK_S, Owner
from techniques.pool.plan import Plan


def through(
    application: str,
    plan: Plan,
    batches: Iterable[pa.RecordBatch],
    query: UUID | None = None,
) -> Iterator[pa.RecordBatch]:
    """Yields the results of all chunks, each once; in the order of the input if the plan says so.

    `query` is the streaming query that the rows belong to, if any."""
    owner = Owner(application, plan, query)
    door = _Door(owner, plan.ordered)
    try:
        for batch in batches:
            for cut in chunks.cut(batch, plan.chunk_rows):
                chunk = Chunk.of(cut)
                while not owner.has_room(chunk, door.held):
                    yield from door.out(owner.collect(LOOK_S))
                door.expect(owner.hand_out(chunk))
                yield from door.out(owner.collect(0))
        while owner.outstanding:
            yield from door.out(owner.collect(LOOK_S))
    finally:
        owner.leave()


class _Door:
    """Emits results, in order if the plan asks for it."""

    def __init__(self, owner: Owner, ordered: bool) -> None:
        self._owner = owner
        self._ordered = ordered
        self._next: int | None = None
        self._early: dict[int, Done] = {}

    @property
    def held(self) -> int:
        """The number of results that wait for an earlier one."""
        return len(self._early)

    def expect(self, number: int) -> None:
        if self._next is None:
            self._next = number

    def out(self, done: list[Done]) -> Iterator[pa.RecordBatch]:
        if not self._ordered:
            for one in done:
                self._owner.emitted(one)
                yield one.result
            return
        self._early.update((one.number, one) for one in done)
        while self._next in self._early:
            one = self._early.pop(self._next)
            self._next += 1
            self._owner.emitted(one)
            yield one.result
