from typing import Any

import pytest
import redis as redis_client
from hypothesis import given
from hypothesis import strategies as st

from collectors.formats import keys
from collectors.formats.announcement import from_hash
from collectors.process.shipper import (
    AT_ONCE,
    BUFFERED_ENTRIES,
    LATE_ARCHIVE,
    RETENTION_MS,
    Shipper,
    trim_ms,
)
from dashboard.testing.stack import RedisServer
from tests.factories import ANNOUNCEMENT, PULSE, START_MS, announcement
from tests.waiting import until

JOB = ANNOUNCEMENT.job_id
STREAM = keys.frames(JOB)


def stream(server: RedisServer) -> list[tuple[int, bytes]]:
    client = redis_client.Redis.from_url(server.url)
    entries: Any = client.xrange(STREAM.key)
    return [(int(entry_id.split(b"-")[0]), fields[keys.PAYLOAD]) for entry_id, fields in entries]


def ship(shipper: Shipper, count: int, first: int = 0) -> None:
    for at in range(first, first + count):
        shipper.ship(STREAM, START_MS + 50 * at, b"%d" % at)


def test_frames_arrive_in_order_under_the_time_of_their_window(redis: RedisServer) -> None:
    shipper = Shipper(redis.url)
    shipper.start()
    ship(shipper, 500)
    until(lambda: len(stream(redis)) == 500)
    assert stream(redis) == [(START_MS + 50 * at, b"%d" % at) for at in range(500)]
    shipper.stop(5)


def test_the_stream_keeps_only_the_retention(redis: RedisServer) -> None:
    shipper = Shipper(redis.url, retention_ms=10_000)
    shipper.start()
    ship(shipper, 1_000)
    until(lambda: stream(redis)[-1:] == [(START_MS + 50 * 999, b"999")])
    # Redis trims whole nodes of about a hundred entries, so a little more than asked may stay.
    assert 200 <= len(stream(redis)) <= 400
    shipper.stop(5)


def test_an_announcement_makes_the_job_known(redis: RedisServer) -> None:
    shipper = Shipper(redis.url)
    shipper.start()
    beating = announcement(pulse=PULSE)
    shipper.announce(beating)
    client = redis_client.Redis.from_url(redis.url)
    until(lambda: client.zscore(keys.JOBS, JOB) == ANNOUNCEMENT.heartbeat_ms)
    values: Any = client.hgetall(keys.job(JOB))
    assert from_hash(values) == beating
    shipper.stop(5)


def test_while_redis_is_away_the_newest_are_kept_and_the_rest_counted(redis: RedisServer) -> None:
    redis.stop()
    shipper = Shipper(redis.url)
    shipper.start()
    ship(shipper, BUFFERED_ENTRIES + 30)
    assert shipper.dropped == 30
    redis.start()
    until(lambda: len(stream(redis)) == BUFFERED_ENTRIES)
    assert stream(redis)[0] == (START_MS + 50 * 30, b"30")
    shipper.stop(5)


def test_sending_resumes_after_redis_was_lost(redis: RedisServer) -> None:
    shipper = Shipper(redis.url)
    shipper.start()
    ship(shipper, 10)
    until(lambda: len(stream(redis)) == 10)
    redis.stop()
    ship(shipper, 10, first=10)
    redis.start()  # empty, as nothing was persisted
    until(lambda: len(stream(redis)) == 10)
    assert stream(redis)[0] == (START_MS + 50 * 10, b"10")
    assert shipper.dropped == 0
    shipper.stop(5)


def test_what_redis_has_is_counted_by_stream_and_content(redis: RedisServer) -> None:
    shipper = Shipper(redis.url)
    ship(shipper, 450)
    shipper.ship(keys.activities(JOB), START_MS, b"three", holds=3)
    shipper.ship(keys.frames("other"), START_MS, b"other")
    assert (shipper.waiting, shipper.shipped(STREAM)) == (452, 0)
    shipper.start()
    until(lambda: shipper.waiting == 0)
    assert shipper.shipped(STREAM) == len(stream(redis)) == 450
    assert shipper.shipped(keys.activities(JOB)) == 3
    assert shipper.shipped(keys.frames("other")) == 1
    assert shipper.shipped(keys.frames("nobody")) == 0
    shipper.stop(5)


def test_every_frame_is_waiting_dropped_or_shipped(redis: RedisServer) -> None:
    shipper = Shipper(redis.url)
    shipper.start()
    ship(shipper, 10)
    until(lambda: shipper.shipped(STREAM) == 10)
    redis.stop()
    ship(shipper, BUFFERED_ENTRIES + 7, first=10)
    assert (shipper.shipped(STREAM), shipper.waiting) == (10, BUFFERED_ENTRIES)
    assert shipper.dropped == 7
    redis.start()
    until(lambda: shipper.waiting == 0)
    assert shipper.shipped(STREAM) == 10 + BUFFERED_ENTRIES
    assert len(stream(redis)) == BUFFERED_ENTRIES
    shipper.stop(5)


def test_what_is_sent_twice_is_stored_once(redis: RedisServer) -> None:
    for _ in range(2):
        shipper = Shipper(redis.url)
        shipper.start()
        ship(shipper, 5)
        shipper.stop(5)
    assert [payload for _, payload in stream(redis)] == [b"0", b"1", b"2", b"3", b"4"]


def test_a_full_redis_refuses_and_nothing_is_lost_once_there_is_room(redis: RedisServer) -> None:
    client = redis_client.Redis.from_url(redis.url)
    client.config_set("maxmemory", 1)
    shipper = Shipper(redis.url)
    shipper.start()
    ship(shipper, 20)
    until(lambda: int(client.info("stats")["total_error_replies"]) > 0)
    client.config_set("maxmemory", 0)
    until(lambda: len(stream(redis)) == 20)
    shipper.stop(5)
    assert shipper.dropped == 0


def test_stopping_does_not_wait_for_a_redis_that_is_away(redis: RedisServer) -> None:
    redis.stop()
    shipper = Shipper(redis.url)
    shipper.start()
    ship(shipper, 5)
    shipper.stop(5)
    assert not shipper._thread.is_alive()


def test_an_address_that_is_none_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="scheme"):
        Shipper("http://example.org")


def test_the_control_document_of_a_watched_job_is_read_along(redis: RedisServer) -> None:
    heard: list[tuple[str, bytes]] = []
    shipper = Shipper(redis.url, hear=lambda *said: heard.append(said))
    shipper.watch(JOB)
    shipper.start()
    client = redis_client.Redis.from_url(redis.url)
    client.set(keys.control(JOB), b"one")
    sent = iter(range(100_000))

    def heard_in_the_end(document: bytes) -> bool:
        ship(shipper, 1, next(sent))
        return heard[-1:] == [(JOB, document)]

    until(lambda: heard_in_the_end(b"one"))
    client.set(keys.control(JOB), b"two")
    until(lambda: heard_in_the_end(b"two"))
    shipper.unwatch(JOB)
    shipper.stop(5)


def test_a_control_key_of_another_type_stops_no_frames(redis: RedisServer) -> None:
    shipper = Shipper(redis.url, hear=lambda *_said: pytest.fail("heard a list"))
    redis_client.Redis.from_url(redis.url).lpush(keys.control(JOB), "surprise")
    shipper.watch(JOB)
    shipper.start()
    ship(shipper, 20)
    until(lambda: len(stream(redis)) == 20)
    assert shipper.dropped == 0
    shipper.stop(5)


# Redis trims whole nodes of about a hundred entries, so a little more than asked may stay.
NODE = 200
RETENTION_ENTRIES = 200


def archiving(server: RedisServer, archived: bytes | None) -> Shipper:
    """A shipper with a retention of RETENTION_ENTRIES that has read the archiver's key."""
    client = redis_client.Redis.from_url(server.url)
    if archived is not None:
        client.set(keys.archived(JOB), archived)
    client.set(keys.control(JOB), b"heard")
    heard: list[str] = []
    shipper = Shipper(
        server.url,
        retention_ms=50 * RETENTION_ENTRIES,
        hear=lambda job_id, _document: heard.append(job_id),
    )
    shipper.watch(JOB)
    shipper.start()
    ship(shipper, 1)
    until(lambda: heard)
    return shipper


def kept(server: RedisServer, shipper: Shipper, count: int = 2_000) -> int:
    """How many entries are in Redis after `count` were sent."""
    for first in range(1, count, AT_ONCE):
        ship(shipper, min(AT_ONCE, count - first), first)
        until(lambda: shipper.waiting == 0)
    shipper.stop(5)
    return len(stream(server))


def test_what_the_archiver_has_stored_goes_after_the_retention(redis: RedisServer) -> None:
    shipper = archiving(redis, b"%d" % (START_MS + 50 * 1_999))
    assert RETENTION_ENTRIES <= kept(redis, shipper) <= RETENTION_ENTRIES + NODE


def test_what_the_archiver_has_yet_to_store_stays(redis: RedisServer) -> None:
    shipper = archiving(redis, b"%d" % (START_MS + 50 * 1_500))
    assert 500 <= kept(redis, shipper) <= 500 + NODE
    assert stream(redis)[0][0] <= START_MS + 50 * 1_500


def test_an_archiver_that_stands_still_does_not_lift_the_bound_of_redis(
    redis: RedisServer,
) -> None:
    shipper = archiving(redis, b"%d" % START_MS)
    most = LATE_ARCHIVE * RETENTION_ENTRIES
    assert most <= kept(redis, shipper) <= most + NODE


@pytest.mark.parametrize("archived", [None, b"", b"yesterday", b"\xff"])
def test_without_an_archiver_the_retention_holds(
    redis: RedisServer, archived: bytes | None
) -> None:
    shipper = archiving(redis, archived)
    assert RETENTION_ENTRIES <= kept(redis, shipper) <= RETENTION_ENTRIES + NODE


def test_a_job_that_starts_anew_trims_nothing_that_is_to_be_archived(redis: RedisServer) -> None:
    client = redis_client.Redis.from_url(redis.url)
    for at in range(600):
        client.xadd(STREAM.key, {keys.PAYLOAD: b""}, id=f"{START_MS + 50 * at}-0")
    client.set(keys.archived(JOB), START_MS)
    shipper = Shipper(redis.url, retention_ms=50 * RETENTION_ENTRIES)
    shipper.watch(JOB)
    ship(shipper, 50, first=600)
    shipper.start()
    until(lambda: shipper.waiting == 0)
    shipper.stop(5)
    assert len(stream(redis)) == 650


AGES_MS = st.integers(0, 20 * RETENTION_MS)


@given(AGES_MS, AGES_MS)
def test_a_stream_is_trimmed_between_one_and_four_retentions_ago(
    at_ms: int, archived_ms: int
) -> None:
    trimmed_ms = trim_ms(at_ms, RETENTION_MS, archived_ms)
    assert RETENTION_MS <= at_ms - trimmed_ms <= LATE_ARCHIVE * RETENTION_MS
    # What is cut off is archived, unless the bound of Redis asks for it.
    assert trimmed_ms <= archived_ms or at_ms - trimmed_ms == LATE_ARCHIVE * RETENTION_MS
