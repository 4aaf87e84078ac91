"""What a round of the archiver did: a value that sums up, travels from executors and prints."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Told:
    jobs: int = 0
    entries: int = 0
    unreadable: int = 0
    bytes: int = 0
    # Jobs that another archiver was busy with.
    overtaken: int = 0
    # Per job: windows that Redis had trimmed before they were archived.
    lost_windows: Mapping[str, int] = field(default_factory=dict)
    # Per job: why it could not be archived. The other jobs were.
    failures: Mapping[str, str] = field(default_factory=dict)
    # Why the round ended before its time; empty if it did not.
    stopped: str = ""

    def __add__(self, other: "Told") -> "Told":
        lost = {
            job_id: self.lost_windows.get(job_id, 0) + other.lost_windows.get(job_id, 0)
            for job_id in {**self.lost_windows, **other.lost_windows}
        }
        return Told(
            jobs=self.jobs + other.jobs,
            entries=self.entries + other.entries,
            unreadable=self.unreadable + other.unreadable,
            bytes=self.bytes + other.bytes,
            overtaken=self.overtaken + other.overtaken,
            lost_windows=lost,
            failures={**self.failures, **other.failures},
            # Every group of jobs meets the same full disk: it is told once.
            stopped=self.stopped or other.stopped,
        )

    @property
    def well(self) -> bool:
        return not (self.stopped or self.failures)

    def line(self) -> str:
        """One line for terminals and logs; what went wrong comes first."""
        parts = [self.stopped] if self.stopped else []
        parts += [f"{job_id}: {why}" for job_id, why in sorted(self.failures.items())[:3]]
        if len(self.failures) > 3:
            parts.append(f"{len(self.failures) - 3} more jobs failed")
        parts.append(
            f"archived {self.entries} entries of {self.jobs} jobs in {self.bytes / 1e6:.3g} MB"
        )
        if self.unreadable:
            parts.append(f"{self.unreadable} entries cannot be decoded and are kept as they are")
        if lost := sum(self.lost_windows.values()):
            jobs = len(self.lost_windows)
            parts.append(f"{lost} windows of {jobs} jobs were lost before they could be archived")
        if self.overtaken:
            parts.append(f"{self.overtaken} jobs were left to another archiver")
        return "; ".join(" ".join(part.split()) for part in parts)
