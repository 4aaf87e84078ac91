"""An archiver as a process of its own, which tests kill and let race.

    python -m tests.dashboard.history.archiver_process FOLDER ENTRIES CHUNK [die at this point]

Archives the same two streams as every other one, `CHUNK` entries at a time, until all are there.
It says "ready" and begins with the first line of its input; at its end it says how often it was
overtaken. A point is one of `POINTS`: there it kills itself as `kill -9` would.
"""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from collectors.formats import keys
from dashboard.history import data_files
from dashboard.history.archive import Archive, Overtaken
from dashboard.history.delta import Log
from tests.dashboard.history import streams

FRAMES, ACTIVITIES = keys.frames("orders.scored"), keys.activities("orders.scored")


def run(folder: Path, entries: int, chunk: int) -> int:
    """How often it was overtaken."""
    archive = streams.archive(folder)
    redis = {FRAMES: streams.frames(entries), ACTIVITIES: streams.payloads(entries)}
    overtaken = 0
    while True:
        seen = archive.archived_ms(redis)
        news = {
            stream: [entry for entry in held if entry.at_ms > seen.get(stream, -1)][:chunk]
            for stream, held in redis.items()
        }
        if not any(news.values()):
            return overtaken
        try:
            archive.append(news, seen)
        except Overtaken:
            overtaken += 1


def _die(*_: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _replace(owner: Any, name: str, by: Callable[..., Any]) -> None:
    setattr(owner, name, by)


def before_files() -> None:
    _replace(data_files, "write", _die)


def inside_a_file() -> None:
    write = data_files.write

    def half(filesystem: Any, layout: Any, *rest: Any) -> None:
        file = write(filesystem, layout, *rest)
        path = layout.path(file.path)
        with filesystem.open_input_stream(path) as source:
            content = source.readall()
        with filesystem.open_output_stream(path) as out:
            out.write(content[: len(content) // 2])
        _die()

    _replace(data_files, "write", half)


def after_files() -> None:
    _replace(Log, "commit", _die)


def between_the_tables() -> None:
    commit = Log.commit
    committed: list[bool] = []

    def second(*arguments: Any) -> None:
        if committed:
            _die()
        commit(*arguments)
        committed.append(True)

    _replace(Log, "commit", second)


def after_the_commits() -> None:
    append = Archive.append

    def last(*arguments: Any) -> None:
        append(*arguments)
        _die()

    _replace(Archive, "append", last)


POINTS = {
    point.__name__: point
    for point in (before_files, inside_a_file, after_files, between_the_tables, after_the_commits)
}


if __name__ == "__main__":
    place, count, at_once, *points = sys.argv[1:]
    for point in points:
        POINTS[point]()
    print("ready", flush=True)
    sys.stdin.readline()
    print(run(Path(place), int(count), int(at_once)), flush=True)
