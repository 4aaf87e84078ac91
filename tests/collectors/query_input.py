"""Input of a query, file by file, and how often each key came in it."""

from collections import Counter
from pathlib import Path

from tests.collectors.stateful_job import KEYS

ROWS = 50


class Folder:
    """One query's input and checkpoint."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._files = 0
        (path / "in").mkdir(parents=True)

    def add(self, files: int) -> None:
        for number in range(self._files, self._files + files):
            rows = range(number * ROWS, (number + 1) * ROWS)
            made = self.path / f"{number}.txt"
            made.write_text("\n".join(map(str, rows)))
            made.rename(self.path / "in" / made.name)
        self._files += files

    def counts(self) -> dict[str, int]:
        """How often each key came so far."""
        return dict(Counter(str(row % KEYS) for row in range(self._files * ROWS)))
