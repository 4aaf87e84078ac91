"""File modes of an installation: its folder 0700, SQLite's files 0600.

The database holds session keys, with which anybody could act as that user: no other user of the
host may read it.
"""

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any

FOLDER_MODE = 0o700
FILE_MODE = 0o600
# SQLite creates these with the mode of the database and never changes it afterwards.
_BESIDE = ("-wal", "-shm", "-journal")


def close_folder(folder: Path) -> None:
    """Creates the folder with mode 0700, or sets that mode if it exists."""
    folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    # A sticky folder such as /tmp is meant for everybody.
    if not folder.stat().st_mode & stat.S_ISVTX:
        _restrict(folder, FOLDER_MODE)


def close_database(config: dict[str, Any]) -> None:
    """Restricts SQLite's files. Creates a missing database, so that it never has another mode."""
    name = str(config["NAME"])
    if not config["ENGINE"].endswith("sqlite3") or not name or ":memory:" in name:
        return
    # A missing or foreign folder is reported when the database is opened.
    with suppress(OSError):
        os.close(os.open(name, os.O_RDWR | os.O_CREAT, FILE_MODE))
    for path in (Path(name), *(Path(name + suffix) for suffix in _BESIDE)):
        _restrict(path, FILE_MODE)


def _restrict(path: Path, mode: int) -> None:
    # Files that belong to another user, are missing or are mounted read-only are left alone.
    with suppress(OSError):
        if stat.S_IMODE(path.stat().st_mode) & ~mode:
            path.chmod(mode)
