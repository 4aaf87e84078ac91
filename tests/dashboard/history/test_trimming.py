"""The collector's shipper, Redis and the archiver together: what is trimmed, and when."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from collectors.formats import wire
from collectors.formats.keys import frames
from collectors.formats.wire import WINDOW_MS
from collectors.process.shipper import LATE_ARCHIVE, Shipper
from dashboard.history.archive import Archive, Place
from dashboard.history.group import archive_group
from dashboard.testing.stack import RedisServer
from tests.dashboard.history.streamed import FOR_EVER_MS, in_redis
from tests.factories import START_MS, frame
from tests.waiting import until

JOB = "orders.scored"
FRAMES = frames(JOB)
RETENTION = 200
# Redis trims whole nodes of about a hundred entries.
NODE = 200


class Collector:
    def __init__(self, redis: RedisServer) -> None:
        self.redis = redis
        self.sent = 0
        self.shipper = Shipper(redis.url, retention_ms=RETENTION * WINDOW_MS)
        self.shipper.watch(JOB)
        self.shipper.start()

    def send(self, count: int) -> None:
        for at in range(self.sent, self.sent + count):
            self.shipper.ship(FRAMES, START_MS + WINDOW_MS * at, wire.encode(frame(at)))
            if at % 100 == 99:
                until(lambda: self.shipper.waiting == 0)
        self.sent += count
        until(lambda: self.shipper.waiting == 0)

    def hear(self) -> None:
        """Sends on until the shipper has read the archiver's mark, five times a second."""

        def heard() -> bool:
            self.send(1)
            return self.shipper._archived_ms[JOB] is not None

        until(heard)

    def send_until(self, enough: Callable[[int], bool]) -> None:
        """Sends on until Redis has as many entries as asked: it hears of a mark a little later."""

        def sent_enough() -> bool:
            self.send(1)
            return enough(len(in_redis(self.redis.url, FRAMES)))

        until(sent_enough)


@pytest.fixture
def collector(redis: RedisServer) -> Iterator[Collector]:
    made = Collector(redis)
    yield made
    made.shipper.stop(5)


def test_redis_trims_after_the_commit_and_not_before(
    redis: RedisServer, collector: Collector, tmp_path: Path
) -> None:
    place = Place(str(tmp_path / "archive"))
    collector.send(100)
    assert archive_group(redis.url, place, [JOB]).entries == 100
    collector.hear()
    # Three retentions long nothing is archived: all that is not must stay.
    collector.send(3 * RETENTION)
    waiting = [entry.at_ms for entry in in_redis(redis.url, FRAMES)]
    assert waiting[0] <= START_MS + 100 * WINDOW_MS
    told = archive_group(redis.url, place, [JOB])
    assert told.lost_windows == {}
    collector.send_until(lambda held: held <= RETENTION + NODE)
    assert archive_group(redis.url, place, [JOB]).well
    archived = Archive(place).entries(FRAMES, 0, FOR_EVER_MS)
    assert [each.at_ms for each in archived] == [
        START_MS + WINDOW_MS * at for at in range(collector.sent)
    ]


def test_redis_keeps_its_bound_while_the_archive_is_away(
    redis: RedisServer, collector: Collector, tmp_path: Path
) -> None:
    (tmp_path / "archive").write_text("a file where the archive's folder should be")
    place = Place(str(tmp_path / "archive"))
    collector.send(100)
    assert archive_group(redis.url, place, [JOB]).stopped
    collector.hear()
    collector.send(6 * RETENTION)
    most = LATE_ARCHIVE * RETENTION
    held = len(in_redis(redis.url, FRAMES))
    assert most <= held <= most + NODE
    # When it is back, it takes what Redis kept.
    (tmp_path / "archive").unlink()
    told = archive_group(redis.url, place, [JOB])
    assert (told.entries, told.well) == (held, True)
