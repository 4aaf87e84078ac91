"""Keeps the archive small: merges small files, drops old days, deletes what no log names.

It runs beside writers and readers. Its commits carry a mark of their own, so of two that tidy at
once the slower gives up and leaves it to the next time; appends move other marks and never wait.
"""

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from deltalake import DeltaTable
from pyarrow import fs

from dashboard.history import compaction, marks
from dashboard.history.data_files import DAY_MS, DataFile, day_of
from dashboard.history.delta import Log, reached
from dashboard.history.errors import Overtaken
from dashboard.history.place import Place
from dashboard.history.reading import Reading
from dashboard.history.tables import LAYOUTS

_VACUUM_EVERY_MS = DAY_MS // 4
# A reader may still have a snapshot that names a removed file, and a writer may not have committed
# yet what it has written.
_UNNAMED_KEPT_HOURS = 24
_ALWAYS = (0, 1 << 62)


@dataclass(frozen=True)
class Tidied:
    """How many files were merged, and into how many; how many of old days were dropped from the
    log; how many that no log names were deleted."""

    merged_files: int = 0
    into_files: int = 0
    dropped_files: int = 0
    deleted_files: int = 0


def tidy(place: Place, keep_days: int, now_ms: int, budget_s: float = 60) -> Tidied:
    """Does what is due, for about `budget_s` at most; the rest is done the next time."""
    if keep_days < 1:
        raise ValueError(f"an archive of {keep_days} days: at least one is kept")
    until = time.monotonic() + budget_s
    reading = Reading(place.filesystem())
    merged = into = dropped = deleted = 0
    with reached(place):
        for layout in LAYOUTS.values():
            log = Log(place, layout)
            # Whoever was quicker is doing the same.
            with suppress(Overtaken):
                dropped += _drop(log, reading, day_of(now_ms - keep_days * DAY_MS))
                gone, new = _merge(place, log, reading, now_ms, until)
                merged, into = merged + gone, into + new
                deleted += _vacuum(place, log, now_ms)
    return Tidied(merged, into, dropped, deleted)


def _drop(log: Log, reading: Reading, first_day: str) -> int:
    """Removes the files of days before `first_day`. Marks stay: what is dropped is not archived
    again."""
    if (table := log.opened()) is None:
        return 0
    old = [file for file in log.files({}, *_ALWAYS) if file.partition["day"] < first_day]
    if old:
        mark = marks.read(table, marks.UPKEEP)
        removed = [file.removed() for file in old]
        log.commit(table, removed, {marks.UPKEEP: mark + 1}, {marks.UPKEEP: mark})
        paths = [log.layout.path(file.path) for file in old]
        reading.aside.forget(path for path in paths if path in reading.aside)
    return len(old)


def _merge(place: Place, log: Log, reading: Reading, now_ms: int, until: float) -> tuple[int, int]:
    if (table := log.opened()) is None:
        return 0, 0
    mark = marks.read(table, marks.UPKEEP)
    whole = [
        file for file in log.files({}, *_ALWAYS) if log.layout.path(file.path) not in reading.aside
    ]
    old: list[DataFile] = []
    new: list[DataFile] = []
    for group in compaction.plan(whole, now_ms):
        if time.monotonic() > until:
            break
        if merged := compaction.merge(place.filesystem(), log, reading, group):
            old += group
            new.append(merged)
    if new:
        actions = [
            *(file.removed(data_change=False) for file in old),
            *(file.added(data_change=False) for file in new),
        ]
        log.commit(table, actions, {marks.UPKEEP: mark + 1}, {marks.UPKEEP: mark})
    return len(old), len(new)


def _vacuum(place: Place, log: Log, now_ms: int) -> int:
    if (table := log.opened()) is None:
        return 0
    last_ms = marks.read(table, marks.VACUUM)
    if last_ms <= now_ms < last_ms + _VACUUM_EVERY_MS:
        return 0
    log.commit(table, [], {marks.VACUUM: now_ms}, {marks.VACUUM: last_ms})
    table.update_incremental()
    # It lists files again that it deleted the last time.
    listed = [log.layout.path(path) for path in _vacuumed(table, dry_run=True)]
    there = place.filesystem().get_file_info(listed)
    _vacuumed(table, dry_run=False)
    if place.is_local:
        _remove_empty(Path(place.table(log.layout.name)), day_of(now_ms - DAY_MS))
    return sum(info.type == fs.FileType.File for info in there)


def _vacuumed(table: DeltaTable, *, dry_run: bool) -> list[str]:
    return table.vacuum(
        retention_hours=_UNNAMED_KEPT_HOURS,
        dry_run=dry_run,
        enforce_retention_duration=False,
        full=True,
    )


def _remove_empty(root: Path, before_day: str) -> None:
    """Removes empty folders of past days, of which nobody else is about to fill one."""
    for folder, _, _ in os.walk(root, topdown=False):
        days = [part[4:] for part in Path(folder).parts if part.startswith("day=")]
        if days and days[0] < before_day:
            with suppress(OSError):
                os.rmdir(folder)
