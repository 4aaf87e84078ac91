"""Hundreds of made-up jobs on a real Redis, written with the collector's own commands.

Frames are encoded before the clock starts. Frames that could not be written in time are written
late; those later than a collector would keep them are skipped and counted, as a collector does. At
the end it prints one line of JSON: when each window was written, and how many frames were.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator

import redis

from benchmarks import ui_stream
from benchmarks.made_job import PER_SECOND, SECONDS, Bodies, MadeJob
from collectors.formats import keys
from collectors.formats.announcement import Announcement, to_hash
from collectors.formats.buckets import Histogram
from collectors.formats.coarse_buckets import Tally
from collectors.formats.pulse import Pulse, Recent
from collectors.formats.wire import WINDOW_MS
from collectors.process.shipper import AT_ONCE, BUFFERED_ENTRIES, write_announcement, write_entry

# The number of different jobs: those of one kind share their bytes.
KINDS = 16
CLOSES_AFTER_MS = 200
# Long enough for rules, which look back two minutes; an hour of 500 jobs would need 12 GB.
RETENTION_MS = 150_000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--redis", required=True)
    parser.add_argument("--jobs", type=int, required=True)
    parser.add_argument("--seconds", type=int, required=True)
    options = parser.parse_args()
    writer = Writer(options.redis, options.jobs)
    print("ready", flush=True)
    sys.stdin.readline()
    written_ms, skipped = writer.write(options.seconds)
    told = {"written_ms": written_ms, "jobs": options.jobs, "skipped_windows": skipped}
    print(json.dumps(told), flush=True)
    return 0


class Writer:
    def __init__(self, url: str, jobs: int) -> None:
        self._redis = redis.Redis.from_url(url)
        bodies = Bodies()
        self._kinds = [MadeJob(bodies, kind * (SECONDS // KINDS)) for kind in range(KINDS)]
        self._job_ids = [job_id(at) for at in range(jobs)]
        self._announced = [to_hash(_announcement(each)) for each in self._job_ids]

    def write(self, seconds: int) -> tuple[dict[int, int], int]:
        """Returns when the writing of each window began, and the number of skipped windows."""
        written_ms: dict[int, int] = {}
        skipped = 0
        first = _now_ms() // WINDOW_MS
        for window in _windows_as_they_close(first, first + seconds * PER_SECOND):
            if _now_ms() - window * WINDOW_MS > BUFFERED_ENTRIES * WINDOW_MS:
                skipped += 1
                continue
            written_ms[window] = _now_ms()
            self._write_window(window, window - first)
        return written_ms, skipped

    def _write_window(self, window: int, sequence: int) -> None:
        frames = [kind.frame(window, sequence) for kind in self._kinds]
        second, place = divmod(window, PER_SECOND)
        ended = [kind.activities(second) for kind in self._kinds] if place == 0 else []
        for start in range(0, len(self._job_ids), AT_ONCE):
            pipeline = self._redis.pipeline(transaction=False)
            for at in range(start, min(start + AT_ONCE, len(self._job_ids))):
                name, kind, at_ms = self._job_ids[at], at % KINDS, window * WINDOW_MS
                write_entry(pipeline, keys.frames(name), at_ms, frames[kind], RETENTION_MS)
                if ended:
                    stream = keys.activities(name)
                    write_entry(pipeline, stream, at_ms, ended[kind], RETENTION_MS)
                if at % PER_SECOND == place:
                    beat = {**self._announced[at], "heartbeat_ms": _now_ms()}
                    write_announcement(pipeline, beat)
            pipeline.execute()


def job_id(at: int) -> str:
    return keys.job_id("ingest", f"job {at}")


def _announcement(name: str) -> Announcement:
    seen = Tally()
    seen.add(Histogram.of([200_000, 400_000]).counts)
    pulse = Pulse(
        processed=seen.taken(),
        recent=Recent(_now_ms() // 10_000 * 10_000, (400_000,) * 90),
    )
    return Announcement(
        job_id=name,
        application="ingest",
        query=name,
        run_id=str(ui_stream.RUN_ID),
        application_id="made-up",
        spark_version="4.3.0",
        driver_host="node-a",
        started_ms=_now_ms(),
        heartbeat_ms=_now_ms(),
        pulse=pulse,
    )


def _windows_as_they_close(first: int, after: int) -> Iterator[int]:
    for window in range(first, after):
        closes_ms = (window + 1) * WINDOW_MS + CLOSES_AFTER_MS
        time.sleep(max(0.0, (closes_ms - time.time() * 1000) / 1000))
        yield window


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


if __name__ == "__main__":
    raise SystemExit(main())
