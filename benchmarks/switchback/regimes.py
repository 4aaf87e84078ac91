"""Which jobs are measured, one line each: change them here."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Regime:
    """An example job and its options. `operators` are those that keep state."""

    example: str
    query: str
    operators: int = 1
    partitions: int = 4
    disk_mb_s: int | None = None
    options: Mapping[str, object] = field(default_factory=dict)

    @property
    def application(self) -> str:
        return self.example.replace("_", "-")

    @property
    def words(self) -> tuple[str, ...]:
        given = {"partitions": self.partitions, **self.options}
        if self.disk_mb_s is not None:
            given["disk-mb-s"] = self.disk_mb_s
        return tuple(
            word
            for name, value in given.items()
            for word in ((f"--{name}",) if value is True else (f"--{name}", str(value)))
        )

    @property
    def with_changelog(self) -> "Regime":
        return replace(self, options={**self.options, "changelog": True})

    @property
    def stores(self) -> tuple[tuple[int, int], ...]:
        """Operator and partition of each state store."""
        return tuple(
            (operator, partition)
            for operator in range(self.operators)
            for partition in range(self.partitions)
        )


# What a common volume of a cloud takes. On this machine's own disk, an upload is a copy in memory.
DISK_MB_S = 125


def jam(setting: str, disk_mb_s: int | None = DISK_MB_S, partitions: int = 4) -> Regime:
    options = {"setting": setting, "messages": 400}
    return Regime("traffic_jam", "ranking", 2, partitions, disk_mb_s, options)


SETTINGS: Mapping[str, Regime] = {
    "scheduled": jam("scheduled"),
    "statistical": jam("statistical"),
    "word_count": Regime(
        "word_count",
        "words",
        disk_mb_s=DISK_MB_S,
        options={"sentences": 300, "vocabulary": 5000},
    ),
}

# Where it helps and where it does not: how much state there is, and how fast the checkpoint's disk.
MAP: Mapping[str, Regime] = {
    "hardly any state, 125 MB/s": jam("calm"),
    "this machine's own disk": jam("statistical", disk_mb_s=None),
    "250 MB/s": jam("statistical", disk_mb_s=250),
    "125 MB/s": jam("statistical"),
    "125 MB/s, one large stage": jam("scheduled"),
    "60 MB/s": jam("statistical", disk_mb_s=60),
    "60 MB/s, 8 partitions": jam("statistical", disk_mb_s=60, partitions=8),
}
