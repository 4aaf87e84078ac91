"""Which jobs are measured, one line each: change them here."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Regime:
    """An example job and its options. `operators` are those that keep state."""

    example: str
    query: str
    operators: int = 1
    partitions: int = 4
    options: Mapping[str, object] = field(default_factory=dict)

    @property
    def application(self) -> str:
        return self.example.replace("_", "-")

    @property
    def words(self) -> tuple[str, ...]:
        given = {"partitions": self.partitions, **self.options}
        return tuple(word for name, value in given.items() for word in (f"--{name}", str(value)))

    @property
    def stores(self) -> tuple[tuple[int, int], ...]:
        """Operator and partition of each state store."""
        return tuple(
            (operator, partition)
            for operator in range(self.operators)
            for partition in range(self.partitions)
        )


def jam(setting: str, partitions: int = 4, **options: object) -> Regime:
    options = {"setting": setting, "messages": 400, **options}
    return Regime("traffic_jam", "ranking", 2, partitions, options)


SETTINGS: Mapping[str, Regime] = {
    "scheduled": jam("scheduled"),
    "statistical": jam("statistical"),
    "word_count": Regime("word_count", "words", options={"sentences": 300, "vocabulary": 5000}),
}

# Where it helps and where it does not: state size by what a second brings.
MAP: Mapping[str, Regime] = {
    "calm": jam("calm"),
    "scheduled": jam("scheduled"),
    "statistical": jam("statistical"),
    "statistical, 8 partitions": jam("statistical", partitions=8),
}
