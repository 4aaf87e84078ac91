"""What the controller finds again: its moves and what became of them.

A move waits to be judged until enough stages have run after it. Verdicts count for ten minutes, and
as long as the executors are the same ones.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

FORGOTTEN_AFTER_MS = 600_000
MOST_MOVES = 200


class Verdict(StrEnum):
    WAITING = "waiting"
    PAID = "paid"
    FAILED = "failed"  # it brought less than half of what was predicted
    WORSE = "worse"  # the two executors finish later than before
    FORCED = "forced"  # away from an executor that is about to go: not judged


@dataclass(frozen=True)
class Move:
    """A partition that was sent from one executor to another at `at_ms`. `gain` is the predicted
    share of the pair's finish, `ratio` the predicted time there over the time here; `surprise` is
    how many times as long as predicted it took. What was before is told by the stages since
    `since_ms`."""

    partition: int
    source: str
    target: str
    at_ms: int
    since_ms: int
    gain: float
    ratio: float
    verdict: Verdict = Verdict.WAITING
    surprise: float = 1.0


@dataclass(frozen=True)
class Memory:
    """`at_ms` is when something moved last, `cost_ms` what moves cost on average so far."""

    run: str
    executors: tuple[str, ...]
    at_ms: int = 0
    cost_ms: float | None = None
    moves: tuple[Move, ...] = ()

    @property
    def waiting(self) -> tuple[Move, ...]:
        return tuple(move for move in self.moves if move.verdict is Verdict.WAITING)

    def rested(self, partition: int, now_ms: float, rest_ms: float) -> bool:
        """Whether the partition has not moved for so long."""
        times = (move.at_ms for move in self.moves if move.partition == partition)
        return now_ms - max(times, default=0) >= rest_ms

    def failed(self, partition: int, source: str, target: str) -> bool:
        return any(
            (move.partition, move.source, move.target) == (partition, source, target)
            and move.verdict in (Verdict.FAILED, Verdict.WORSE)
            for move in self.moves
        )

    def surprise(self, source: str, target: str) -> float:
        """How far the latest move between these two was from its predicted time there."""
        for move in reversed(self.moves):
            if (move.source, move.target) == (source, target):
                return move.surprise
            if (move.source, move.target) == (target, source):
                return 1 / move.surprise
        return 1.0

    def at(self, now_ms: int, executors: Iterable[str]) -> "Memory":
        """Without what is too old to count, or was found out with other executors."""
        there = tuple(sorted(executors))
        kept = tuple(
            move
            for move in self.moves
            if now_ms - move.at_ms < FORGOTTEN_AFTER_MS and there == self.executors
        )
        return replace(self, executors=there, moves=kept)

    def moved(self, moves: Iterable[Move], now_ms: int) -> "Memory":
        added = tuple(moves)
        if not added:
            return self
        return replace(self, at_ms=now_ms, moves=(*self.moves, *added)[-MOST_MOVES:])

    def as_memory(self) -> dict[str, Any]:
        moves = [{**asdict(move), "verdict": str(move.verdict)} for move in self.moves]
        return {**asdict(self), "executors": list(self.executors), "moves": moves}

    @staticmethod
    def of(memory: Mapping[str, Any], run: str) -> "Memory":
        """An empty one if there is none, or one of another run or version."""
        try:
            moves = tuple(
                Move(**{**each, "verdict": Verdict(each["verdict"])}) for each in memory["moves"]
            )
            found = Memory(**{**memory, "executors": tuple(memory["executors"]), "moves": moves})
        except (KeyError, TypeError, ValueError):
            return Memory(run, ())
        return found if found.run == run else Memory(run, ())
