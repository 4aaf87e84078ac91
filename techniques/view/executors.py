from dataclasses import dataclass


@dataclass(frozen=True)
class Executor:
    """An executor and when it joined and left. `joined_ms` is None if it joined before the view
    began, `left_ms` is None if it still runs. `cores` are those that Spark gives to its tasks, None
    if they are not known. `leaving` once Spark decommissions it: it still runs, but gets no more
    tasks. An executor that comes back has two entries."""

    id: str
    host: str
    joined_ms: int | None = None
    left_ms: int | None = None
    cores: int | None = None
    leaving: bool = False
