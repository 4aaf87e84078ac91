"""File modes of an installation: its folder 0700, SQLite's files 0600.

The database holds session keys: whoever reads one is that user, so no other user of the host may.
"""

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any

FOLDER_MODE = 0o700
FILE_MODE = 0o600
# SQLite gives them the mode of the database when it makes them, and never changes it afterwards.
_BESIDE = ("-wal", "-shm", "-journal")


def close_folder(folder: Path) -> None:
    """Makes the folder, or takes it from others if it is there already."""
    folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    # A sticky folder such as /tmp is meant for everybody.
    if not folder.stat().st_mode & stat.S_ISVTX:
        _restrict(folder, FOLDER_MODE)


def close_database(config: dict[str, Any]) -> None:
    """For SQLite in a file; one that is not there yet is made, so that it is never open."""
    name = str(config["NAME"])
    if not config["ENGINE"].endswith("sqlite3") or not name or ":memory:" in name:
        return
    # A folder that is missing or not ours is told of when the database is opened.
    with suppress(OSError):
        os.close(os.open(name, os.O_RDWR | os.O_CREAT, FILE_MODE))
    for path in (Path(name), *(Path(name + suffix) for suffix in _BESIDE)):
        _restrict(path, FILE_MODE)


def _restrict(path: Path, mode: int) -> None:
    # What belongs to somebody else, is missing or is mounted read-only is not ours to change.
    with suppress(OSError):
        if stat.S_IMODE(path.stat().st_mode) & ~mode:
            path.chmod(mode)
