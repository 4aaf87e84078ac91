"""The history benchmark's windows are what an archiver would find, and its table tells the aims."""

from pathlib import Path

from redis import Redis

from benchmarks import history
from benchmarks.history_archived import MADE, fill
from collectors.formats import keys
from collectors.formats.wire import WINDOW_MS, decode
from dashboard.history.archive import Archive, Place
from dashboard.history.round import MARGIN_MS, Round
from dashboard.history.streams import RedisStreams
from dashboard.testing.stack import redis_server

WINDOWS = 300


def test_every_made_up_window_is_closed_and_archived_once(tmp_path: Path) -> None:
    with redis_server() as redis:
        fill(redis, WINDOWS)
        client = Redis.from_url(redis.url)
        assert client.xlen(keys.frames(MADE).key) == WINDOWS
        client.close()
        archive = Archive(Place(str(tmp_path)))
        streams = RedisStreams(redis.url)
        told = Round(streams, archive).run([MADE])
        closed_ms = streams.now_ms() - MARGIN_MS
        streams.close()
    frames = [decode(each.payload) for each in archive.entries(keys.frames(MADE), 0, 1 << 50)]
    assert told.well
    assert [frame.sequence for frame in frames] == list(range(WINDOWS))
    assert frames[-1].start_ms + WINDOW_MS < closed_ms


def test_the_table_says_what_was_measured_and_what_was_aimed_at() -> None:
    said = history.table({"day_open_ms": 52.0, "week20_s": None, "aims": history.AIMS})
    assert "day_open_ms                  52.0" in said
    assert said.splitlines()[-1].startswith("aims: windows_per_s_core 50000, bytes_per_window 60")
