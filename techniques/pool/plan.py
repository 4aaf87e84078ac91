"""A pool's plan: operators, instances and limits, set by the driver; a file for the supervisor."""

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import pyarrow as pa
from pyspark import cloudpickle

Operator: TypeAlias = Callable[[pa.RecordBatch], pa.RecordBatch]

MOST_INSTANCES = 64
MORE = 4
CHUNKS_PER_INSTANCE = 2
MOST_CHUNK_ROWS = 1_000_000
MOST_NAME = 40
# Environment variable with the number of the instance, for operators.
INSTANCE_VARIABLE = "CURTAIL_INSTANCE"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


@dataclass(frozen=True)
class Stage:
    """One operator of a chain: the instances that it starts with, and how many it may grow to."""

    name: str
    instances: int
    most: int
    pickled: bytes


@dataclass(frozen=True)
class Plan:
    name: str
    stages: tuple[Stage, ...]
    chunk_rows: int
    # Chunks that one task has in the pool at a time: what bounds queues, and so memory. None: as
    # many for each instance that there is now as `CHUNKS_PER_INSTANCE` says.
    window: int | None
    memory_bytes: int
    ordered: bool
    policy: str
    idle_s: float

    @property
    def instances(self) -> int:
        """The number of instances that the pool starts with."""
        return sum(stage.instances for stage in self.stages)

    @property
    def room(self) -> int:
        """The number of instances that there is room for, in the page and in memory."""
        return sum(stage.most for stage in self.stages)

    @property
    def digest(self) -> str:
        """Identifies the operators and settings: the same name with others is another pool."""
        seen = hashlib.sha256(repr((self.memory_bytes, self.policy, self.idle_s)).encode())
        for stage in self.stages:
            counts = f"{stage.instances} {stage.most} {len(stage.pickled)}"
            seen.update(f"{stage.name} {counts} ".encode())
            seen.update(stage.pickled)
        return seen.hexdigest()[:16]

    def first_of(self, position: int) -> int:
        """Returns the number of the first instance of the operator at this position."""
        return sum(stage.most for stage in self.stages[:position])

    def instance_name(self, instance: int) -> str:
        for position, stage in enumerate(self.stages):
            within = instance - self.first_of(position)
            if within < stage.most:
                return f"{stage.name}-{within}"
        raise IndexError(f"{self.name} has no instance {instance}")


def stages_of(
    operator: Operator | Sequence[Operator],
    instances: int | Sequence[int],
    most: int | Sequence[int] | None = None,
) -> tuple[Stage, ...]:
    """Each operator with its own instances; names are made different where functions share one."""
    operators = tuple(operator) if isinstance(operator, Sequence) else (operator,)
    if not operators:
        raise ValueError("a pool needs at least one operator")
    counts = _for_each(operators, instances, "numbers of instances")
    room = (
        _room_beside(counts)
        if most is None
        else _for_each(operators, most, "numbers of the most instances")
    )
    made: list[Stage] = []
    for one, count, highest in zip(operators, counts, room, strict=True):
        if not callable(one):
            raise TypeError(
                f"an operator is a function from RecordBatch to RecordBatch, not {one!r}"
            )
        within("instances", count, MOST_INSTANCES)
        within("most", highest, MOST_INSTANCES, count)
        taken = {stage.name for stage in made}
        pickled: bytes = cloudpickle.dumps(one)  # type: ignore[no-untyped-call]
        made.append(Stage(_distinct(_plain(one), taken), count, highest, pickled))
    for what, numbers in (("instances", counts), ("instances to grow to", room)):
        if sum(numbers) > MOST_INSTANCES:
            raise ValueError(f"{sum(numbers)} {what} in all; a pool has at most {MOST_INSTANCES}")
    return tuple(made)


def _for_each(
    operators: Sequence[Operator], asked: int | Sequence[int], what: str
) -> tuple[int, ...]:
    numbers = (asked,) * len(operators) if isinstance(asked, int) else tuple(asked)
    if len(numbers) != len(operators):
        raise ValueError(f"{len(operators)} operators, but {len(numbers)} {what}")
    return numbers


def _room_beside(counts: Sequence[int]) -> tuple[int, ...]:
    """Twice the instances, or four more, as far as one pool may have so many: room that nobody
    uses costs a few kilobytes of the page."""
    left = max(0, MOST_INSTANCES - sum(counts)) // len(counts)
    return tuple(count + min(left, max(count, MORE)) for count in counts)


def within(what: str, value: float, most: float, least: float = 1) -> None:
    if not least <= value <= most:
        raise ValueError(f"{what} must be between {least} and {most}, not {value}")


def checked_name(name: str) -> str:
    if not NAME.fullmatch(name) or len(name) > MOST_NAME:
        raise ValueError(
            f"a pool's name is 1 to {MOST_NAME} letters, digits, '.', '-' or '_', not {name!r}"
        )
    return name


def _plain(operator: Operator) -> str:
    name = getattr(operator, "__name__", type(operator).__name__)
    return re.sub(r"[^A-Za-z0-9_.-]+", "", name)[:MOST_NAME] or "operator"


def _distinct(name: str, taken: set[str]) -> str:
    numbered = (f"{name}.{number}" for number in range(2, MOST_INSTANCES + 2))
    return name if name not in taken else next(one for one in numbered if one not in taken)
