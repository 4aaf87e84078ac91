from dataclasses import dataclass


@dataclass(frozen=True)
class Executor:
    """One that was there, from when to when. It joined before the view began where `joined_ms` is
    None, and is still there where `left_ms` is. One that comes back is there twice."""

    id: str
    host: str
    joined_ms: int | None = None
    left_ms: int | None = None
