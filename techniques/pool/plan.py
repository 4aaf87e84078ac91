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
MOST_CHUNK_ROWS = 1_000_000
MOST_NAME = 40
# Environment variable with the number of the instance, for operators.
INSTANCE_VARIABLE = "CURTAIL_INSTANCE"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


@dataclass(frozen=True)
class Stage:
    """One operator of a chain with its instances."""

    name: str
    instances: int
    pickled: bytes


@dataclass(frozen=True)
class Plan:
    name: str
    stages: tuple[Stage, ...]
    chunk_rows: int
    # Chunks that one task has in the pool at a time: what bounds queues, and so memory.
    window: int
    memory_bytes: int
    ordered: bool
    policy: str
    idle_s: float

    @property
    def instances(self) -> int:
        return sum(stage.instances for stage in self.stages)

    @property
    def digest(self) -> str:
        """Identifies the operators and settings: the same name with others is another pool."""
        seen = hashlib.sha256(repr((self.memory_bytes, self.policy, self.idle_s)).encode())
        for stage in self.stages:
            seen.update(f"{stage.name} {stage.instances} {len(stage.pickled)} ".encode())
            seen.update(stage.pickled)
        return seen.hexdigest()[:16]

    def first_of(self, position: int) -> int:
        """Returns the number of the first instance of the operator at this position."""
        return sum(stage.instances for stage in self.stages[:position])

    def instance_name(self, instance: int) -> str:
        for position, stage in enumerate(self.stages):
            within = instance - self.first_of(position)
            if within < stage.instances:
                return f"{stage.name}-{within}"
        raise IndexError(f"{self.name} has no instance {instance}")


def stages_of(
    operator: Operator | Sequence[Operator], instances: int | Sequence[int]
) -> tuple[Stage, ...]:
    """Each operator with its own instances; names are made different where functions share one."""
    operators = tuple(operator) if isinstance(operator, Sequence) else (operator,)
    if not operators:
        raise ValueError("a pool needs at least one operator")
    counts = (instances,) * len(operators) if isinstance(instances, int) else tuple(instances)
    if len(counts) != len(operators):
        raise ValueError(f"{len(operators)} operators, but {len(counts)} numbers of instances")
    made: list[Stage] = []
    for one, count in zip(operators, counts, strict=True):
        if not callable(one):
            raise TypeError(
                f"an operator is a function from RecordBatch to RecordBatch, not {one!r}"
            )
        within("instances", count, MOST_INSTANCES)
        taken = {stage.name for stage in made}
        pickled: bytes = cloudpickle.dumps(one)  # type: ignore[no-untyped-call]
        made.append(Stage(_distinct(_plain(one), taken), count, pickled))
    if sum(counts) > MOST_INSTANCES:
        raise ValueError(f"{sum(counts)} instances in all; a pool has at most {MOST_INSTANCES}")
    return tuple(made)


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
