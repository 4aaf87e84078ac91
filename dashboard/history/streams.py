"""The archiver's access to the streams in Redis. It runs in executors too, so it is not the store
of the dashboard, which needs Django's settings and an event loop."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import redis
from redis.exceptions import RedisError, ResponseError

from collectors.formats import keys
from collectors.formats.keys import Entry, Stream
from dashboard.history.round import SourceUnavailable, StreamUnreadable

T = TypeVar("T")

CONNECT_TIMEOUT_S = 2.0
REPLY_TIMEOUT_S = 10.0
# As long as Redis keeps entries for a late archiver (`collectors.process.shipper`): when a mark has
# expired, there is nothing left that it could have protected.
MARK_LASTS_MS = 4 * 3_600_000


class RedisStreams:
    """Implements `dashboard.history.round.Source`."""

    def __init__(self, url: str) -> None:
        self._redis = redis.Redis.from_url(
            url, socket_connect_timeout=CONNECT_TIMEOUT_S, socket_timeout=REPLY_TIMEOUT_S
        )

    def now_ms(self) -> int:
        seconds, microseconds = self._reply(self._redis.time)
        return int(seconds * 1000 + microseconds // 1000)

    def job_ids(self) -> list[str]:
        found = self._reply(lambda: self._redis.zrange(keys.JOBS, 0, -1))
        return [job_id.decode(errors="replace") for job_id in found]

    def read(self, stream: Stream, after_ms: int, until_ms: int, most: int) -> list[Entry]:
        if until_ms <= max(after_ms, -1):
            return []
        # An entry's id is its time and "-0": the first id after the mark begins the range.
        read = self._of(
            stream,
            lambda: self._redis.xrange(
                stream.key, f"{max(0, after_ms + 1)}", f"{until_ms}", count=most
            ),
        )
        return [_entry(*each) for each in read]

    def oldest_ms(self, stream: Stream) -> int | None:
        read = self._of(stream, lambda: self._redis.xrange(stream.key, count=1))
        return _entry(*read[0]).at_ms if read else None

    def tell_archived(self, archived_ms: Mapping[str, int]) -> None:
        pipeline = self._redis.pipeline(transaction=False)
        for job_id, at_ms in archived_ms.items():
            pipeline.set(keys.archived(job_id), at_ms, px=MARK_LASTS_MS)
        self._reply(pipeline.execute)

    def keep(self, job_ids: Iterable[str]) -> None:
        pipeline = self._redis.pipeline(transaction=False)
        for job_id in job_ids:
            # Where there is no mark yet, nothing is archived: 0 lets Redis keep all that it may.
            pipeline.set(keys.archived(job_id), 0, px=MARK_LASTS_MS, nx=True)
            pipeline.pexpire(keys.archived(job_id), MARK_LASTS_MS)
        self._reply(pipeline.execute)

    def close(self) -> None:
        self._redis.close()

    def _of(self, stream: Stream, ask: Callable[[], T]) -> Any:
        try:
            return self._reply(ask)
        except SourceUnavailable as error:
            if isinstance(error.__cause__, ResponseError) and "WRONGTYPE" in str(error):
                raise StreamUnreadable(f"{stream.key} in Redis is no stream") from error
            raise

    @staticmethod
    def _reply(ask: Callable[[], T]) -> Any:
        try:
            return ask()
        except (RedisError, OSError) as error:
            raise SourceUnavailable(str(error)) from error


def _entry(entry_id: bytes, fields: Mapping[bytes, bytes] | None) -> Entry:
    # An entry without our field is not ours: its empty payload is counted as unreadable later.
    return Entry(int(entry_id.split(b"-")[0]), (fields or {}).get(keys.PAYLOAD, b""))
