"""How quickly windows get from Redis to the archive, and how many bytes they take there."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from redis import Redis

from benchmarks.made_job import PER_SECOND, Bodies, MadeJob
from collectors.formats import keys
from collectors.formats.keys import Kind, Stream
from collectors.formats.wire import WINDOW_MS
from collectors.process.shipper import write_entry
from dashboard.cli import programs
from dashboard.history.archive import Archive, Place
from dashboard.history.rollups import roll_up
from dashboard.history.round import MARGIN_MS, Round
from dashboard.history.streams import RedisStreams
from dashboard.testing.running import Running
from dashboard.testing.stack import RedisServer, redis_server
from examples import traffic_jam

MADE = "made.job"
RECORDED = keys.job_id(traffic_jam.NAME, "ranking")
AT_ONCE = 1_000
RETENTION_MS = 7 * 86_400_000
START_S = 180


def rates(windows: int) -> dict[str, int]:
    """Windows per second of CPU time, without and with roll-ups."""
    with redis_server() as redis:
        fill(redis, windows)
        return {
            "windows_per_s_core": round(windows / _archived_s(redis, rolled=False)),
            "windows_per_s_core_rolled": round(windows / _archived_s(redis, rolled=True)),
            "windows": windows,
        }


def kept(seconds: int) -> dict[str, float]:
    """Bytes per window of a job that runs for so long, by what they are of."""
    with redis_server() as redis, folder() as place:
        _record(redis, place / "job", seconds)
        archive = Archive(Place(str(place / "archive")))
        told = Round(RedisStreams(redis.url), archive, partial(roll_up, archive)).run([RECORDED])
        assert not told.stopped, told.stopped
        windows = len(archive.entries(keys.frames(RECORDED), 0, 1 << 50))
        sizes = {
            each: _file_bytes(place / "archive" / each) / windows
            for each in ("frames", "activities", "rollups")
        }
    return {
        "bytes_per_window": round(sizes["frames"] + sizes["activities"], 1),
        **{f"{name}_bytes_per_window": round(size, 1) for name, size in sizes.items()},
        "kept_windows": windows,
    }


def fill(redis: RedisServer, windows: int) -> None:
    """Writes the last windows before now, as a collector would have."""
    made = MadeJob(Bodies())
    first = int(time.time() * 1000) // WINDOW_MS - windows - 10 * PER_SECOND
    client = Redis.from_url(redis.url)
    for start in range(first, first + windows, AT_ONCE):
        pipeline = client.pipeline(transaction=False)
        for window in range(start, min(start + AT_ONCE, first + windows)):
            at_ms = window * WINDOW_MS
            frame = made.frame(window, window - first)
            write_entry(pipeline, keys.frames(MADE), at_ms, frame, RETENTION_MS)
            if window % PER_SECOND == 0:
                ended = made.activities(at_ms // 1_000)
                write_entry(pipeline, keys.activities(MADE), at_ms, ended, RETENTION_MS)
        pipeline.execute()
    client.close()


def _archived_s(redis: RedisServer, rolled: bool) -> float:
    with folder() as place:
        archive = Archive(Place(str(place / "archive")))
        streams = RedisStreams(redis.url)
        # Compiles and loads what the first append of a process needs.
        archive.archived_ms([Stream(MADE, Kind.FRAMES)])
        then = partial(roll_up, archive) if rolled else _nothing
        round_ = Round(streams, archive, then)
        began_s = time.process_time()
        told = round_.run([MADE])
        taken_s = time.process_time() - began_s
        streams.close()
    if told.stopped or told.failures:
        raise RuntimeError(f"the round did not end well: {told.line()}")
    return taken_s


def _nothing(_job_id: str, _until_ms: int) -> None:
    """In the place of roll-ups."""


def _record(redis: RedisServer, where: Path, seconds: int) -> None:
    where.mkdir()
    env = programs.environ(os.environ, REDIS_URL=redis.url, **programs.same_python())
    client = Redis.from_url(redis.url)
    stream = keys.frames(RECORDED).key
    with Running(programs.job(env, "traffic_jam", where)) as running:
        running.wait_until(lambda: client.xlen(stream) > 0, START_S)
        running.wait_until(lambda: client.xlen(stream) >= seconds * PER_SECOND, 2 * seconds + 60)
    # The youngest windows are left for a later round.
    time.sleep(MARGIN_MS / 1000 + 1)
    client.close()


def _file_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*.parquet"))


@contextmanager
def folder() -> Iterator[Path]:
    with TemporaryDirectory(prefix="curtail-bench-", ignore_cleanup_errors=True) as name:
        yield Path(name)
