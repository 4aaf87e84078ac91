import pytest
from redis import Redis

from collectors.formats import keys
from collectors.formats.keys import Entry, frames
from dashboard.history.round import SourceUnavailable, StreamUnreadable
from dashboard.history.streams import MARK_LASTS_MS, RedisStreams
from dashboard.testing.stack import RedisServer
from tests.factories import START_MS

JOB = "orders.scored"
FRAMES = frames(JOB)


@pytest.fixture
def client(redis: RedisServer) -> Redis:
    client = Redis.from_url(redis.url)
    for at in range(10):
        client.xadd(FRAMES.key, {keys.PAYLOAD: b"%d" % at}, id=f"{START_MS + 50 * at}-0")
    client.zadd(keys.JOBS, {JOB: 1})
    return client


@pytest.fixture
def streams(redis: RedisServer, client: Redis) -> RedisStreams:
    return RedisStreams(redis.url)


def test_it_reads_what_is_after_the_mark_and_closed_oldest_first(streams: RedisStreams) -> None:
    read = streams.read(FRAMES, START_MS + 100, START_MS + 250, 2)
    assert read == [Entry(START_MS + 150, b"3"), Entry(START_MS + 200, b"4")]
    assert streams.read(FRAMES, START_MS + 200, START_MS + 250, 2) == [Entry(START_MS + 250, b"5")]
    assert len(streams.read(FRAMES, -1, START_MS + 10_000, 100)) == 10
    assert streams.read(FRAMES, START_MS, START_MS, 100) == []
    assert streams.read(frames("nobody"), -1, START_MS, 100) == []


def test_it_knows_the_jobs_the_oldest_entry_and_the_clock_of_redis(streams: RedisStreams) -> None:
    assert streams.job_ids() == [JOB]
    assert streams.oldest_ms(FRAMES) == START_MS
    assert streams.oldest_ms(frames("nobody")) is None
    assert streams.now_ms() > START_MS


def test_a_mark_is_told_and_expires(streams: RedisStreams, client: Redis) -> None:
    streams.tell_archived({JOB: START_MS})
    assert client.get(keys.archived(JOB)) == b"%d" % START_MS
    assert 0 < client.pttl(keys.archived(JOB)) <= MARK_LASTS_MS


def test_marks_are_kept_as_they_are_while_the_archive_is_away(
    streams: RedisStreams, client: Redis
) -> None:
    client.set(keys.archived(JOB), START_MS, px=1_000)
    streams.keep([JOB, "new"])
    assert client.get(keys.archived(JOB)) == b"%d" % START_MS
    assert client.pttl(keys.archived(JOB)) > 1_000
    assert client.get(keys.archived("new")) == b"0"
    assert client.pttl(keys.archived("new")) > 1_000


def test_a_key_that_is_no_stream_fails_its_job_alone(streams: RedisStreams, client: Redis) -> None:
    client.set(frames("odd").key, "a string")
    with pytest.raises(StreamUnreadable, match="odd"):
        streams.read(frames("odd"), -1, START_MS, 10)
    assert len(streams.read(FRAMES, -1, START_MS, 10)) == 1


def test_a_redis_that_is_away_is_unavailable(streams: RedisStreams, redis: RedisServer) -> None:
    redis.stop()
    with pytest.raises(SourceUnavailable):
        streams.job_ids()
    with pytest.raises(SourceUnavailable):
        streams.read(FRAMES, -1, START_MS, 10)
    with pytest.raises(SourceUnavailable):
        streams.tell_archived({JOB: 1})
