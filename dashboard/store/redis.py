"""The store in Redis: the server side's only access to the streams."""

import asyncio
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import redis.asyncio
from redis.exceptions import RedisError

from collectors.formats import keys
from collectors.formats.announcement import Announcement, from_hash
from collectors.formats.codec import Garbled
from collectors.formats.keys import Stream
from dashboard.store.protocol import Entry, StoreUnavailable

T = TypeVar("T")

CONNECT_TIMEOUT_S = 2.0
REPLY_TIMEOUT_S = 5.0
READ_AT_ONCE = 2_000
# Long enough for a restarted job to find it; renewed every second while a technique is on.
CONTROL_RETENTION_MS = 86_400_000
# The dashboard's own keys, beside those that it shares with collectors.
WORKER = "curtail:worker"
LIMIT = "curtail:limit:"
OWNERS = "curtail:lease:owners"
SHARDS = "curtail:lease:shards"
LEASE = "curtail:lease:of:"
LOOKED = "curtail:looked"
FAILURES = "curtail:failures"
CARDS = "curtail:cards:"
WANTED = "curtail:cards-wanted"
DAY_MS = 86_400_000

# One script and so atomic: two workers can never hold the same shard. A shard's value is
# "until since owner", by the clock of Redis.
HOLD = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local owner, shards, lasting = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('ZADD', KEYS[1], now + lasting, owner)
redis.call('PEXPIRE', KEYS[1], lasting)
local share = math.ceil(shards / redis.call('ZCARD', KEYS[1]))
local mine, free = {}, {}
for shard = 0, shards - 1 do
  local held = redis.call('HGET', KEYS[2], shard)
  local until_, since, holder = string.match(held or '', '^(%d+) (%d+) (.*)$')
  if holder == owner then
    mine[#mine + 1] = {shard, since}
  elseif not until_ or tonumber(until_) <= now then
    free[#free + 1] = {shard, string.format('%d', now)}
  end
end
while #mine > share do
  redis.call('HDEL', KEYS[2], table.remove(mine)[1])
end
while #mine < share and #free > 0 do
  mine[#mine + 1] = table.remove(free, 1)
end
local reply = {}
for _, held in ipairs(mine) do
  redis.call('HSET', KEYS[2], held[1], string.format('%d %s %s', now + lasting, held[2], owner))
  reply[#reply + 1] = held[1]
  reply[#reply + 1] = tonumber(held[2])
end
redis.call('PEXPIRE', KEYS[2], lasting)
return reply
"""
LET_GO = """
redis.call('ZREM', KEYS[1], ARGV[1])
local held = redis.call('HGETALL', KEYS[2])
for at = 1, #held, 2 do
  if string.match(held[at + 1], '^%d+ %d+ (.*)$') == ARGV[1] then
    redis.call('HDEL', KEYS[2], held[at])
  end
end
"""

LEASE_OF_ONE = """
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then
  return 0
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
"""

# A job's score is until when its cards are wanted, by the clock of Redis.
WANT = """
local now = redis.call('TIME')[1]
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. now)
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
"""
WANTED_NOW = "return redis.call('ZRANGEBYSCORE', KEYS[1], redis.call('TIME')[1], '+inf')"


class RedisStore:
    def __init__(self, url: str) -> None:
        self._url = url
        self._clients: dict[asyncio.AbstractEventLoop, redis.asyncio.Redis] = {}

    async def announcements(self) -> Sequence[Announcement]:
        job_ids = await self._reply(self._client().zrange(keys.JOBS, 0, -1))
        pipeline = self._client().pipeline(transaction=False)
        for job_id in job_ids:
            pipeline.hgetall(keys.job(job_id.decode(errors="replace")))
        hashes = await self._reply(pipeline.execute())
        # Hundreds of pulses take a while to decode: in a thread, so that pages do not wait for it.
        return await asyncio.to_thread(_readable, hashes)

    async def running(self, since_ms: int) -> Sequence[str]:
        found = await self._reply(self._client().zrangebyscore(keys.JOBS, since_ms, "+inf"))
        job_ids = [job_id.decode(errors="replace") for job_id in found]
        pipeline = self._client().pipeline(transaction=False)
        for job_id in job_ids:
            pipeline.hget(keys.job(job_id), "ended_ms")
        ended = await self._reply(pipeline.execute())
        pairs = zip(job_ids, ended, strict=True)
        return [job_id for job_id, ended_ms in pairs if ended_ms in (None, b"", b"0")]

    async def entries(self, stream: Stream, start_ms: int, end_ms: int) -> Sequence[Entry]:
        found: list[Entry] = []
        at = f"{max(0, start_ms)}"
        while end_ms > 0:
            read = await self._reply(
                self._client().xrange(stream.key, at, f"({end_ms}-0", count=READ_AT_ONCE)
            )
            found += [_entry(*each) for each in read]
            if len(read) < READ_AT_ONCE:
                break
            at = f"({read[-1][0].decode()}"
        return found

    async def newest_ms(self, stream: Stream) -> int:
        read = await self._reply(self._client().xrevrange(stream.key, count=1))
        return _entry(*read[0]).at_ms if read else -1

    async def newest(self, streams: Sequence[Stream]) -> Mapping[Stream, Entry]:
        pipeline = self._client().pipeline(transaction=False)
        for stream in streams:
            pipeline.xrevrange(stream.key, count=1)
        replies = await self._reply(pipeline.execute())
        return {
            stream: _entry(*read[0]) for stream, read in zip(streams, replies, strict=True) if read
        }

    async def at(self, times_ms: Mapping[Stream, int]) -> Mapping[Stream, Entry]:
        pipeline = self._client().pipeline(transaction=False)
        for stream, at_ms in times_ms.items():
            pipeline.xrange(stream.key, at_ms, at_ms, count=1)
        replies = await self._reply(pipeline.execute())
        return {
            stream: _entry(*read[0]) for stream, read in zip(times_ms, replies, strict=True) if read
        }

    async def follow(
        self, after_ms: Mapping[Stream, int], wait_ms: int
    ) -> Mapping[Stream, Sequence[Entry]]:
        if not after_ms:
            await asyncio.sleep(wait_ms / 1000)
            return {}
        # An entry's id is its window's start and -0: this asks for all that comes after it.
        ids: dict[Any, Any] = {
            stream.key: f"{max(0, after)}-0" for stream, after in after_ms.items()
        }
        streams = {stream.key.encode(): stream for stream in after_ms}
        reply = await self._reply(
            self._client().xread(ids, count=READ_AT_ONCE, block=max(1, wait_ms))
        )
        # Redis answers with pairs under RESP 2 and with a mapping under RESP 3.
        pairs = reply.items() if isinstance(reply, dict) else (reply or [])
        return {streams[key]: [_entry(*each) for each in _flat(read)] for key, read in pairs}

    async def put_control(self, job_id: str, document: bytes) -> None:
        await self._reply(
            self._client().set(keys.control(job_id), document, px=CONTROL_RETENTION_MS)
        )

    async def put_cards(self, job_id: str, computed: bytes, lasting_s: int) -> None:
        await self._reply(self._client().set(CARDS + job_id, computed, ex=lasting_s))

    async def cards(self, job_id: str) -> bytes | None:
        found: bytes | None = await self._reply(self._client().get(CARDS + job_id))
        return found

    async def want_cards(self, job_id: str, lasting_s: int) -> None:
        await self._reply(self._client().eval(WANT, 1, WANTED, job_id, str(lasting_s)))

    async def wanted_cards(self) -> Sequence[str]:
        found = await self._reply(self._client().eval(WANTED_NOW, 1, WANTED))
        return [job_id.decode(errors="replace") for job_id in found]

    async def count(self, names: Sequence[str], by: int, lasting_s: int) -> Sequence[int]:
        pipeline = self._client().pipeline()
        for name in names:
            pipeline.incrby(LIMIT + name, by)
            pipeline.expire(LIMIT + name, lasting_s)
        return [int(count) for count in (await self._reply(pipeline.execute()))[::2]]

    async def beat(self, lasting_s: int) -> None:
        await self._reply(self._client().set(WORKER, b"", ex=lasting_s))

    async def beaten(self) -> bool:
        return bool(await self._reply(self._client().exists(WORKER)))

    async def hold(self, owner: str, shards: int, lasting_ms: int) -> Mapping[int, int]:
        reply = await self._reply(
            self._client().eval(HOLD, 2, OWNERS, SHARDS, owner, str(shards), str(lasting_ms))
        )
        return dict(zip(reply[::2], reply[1::2], strict=True))

    async def let_go(self, owner: str) -> None:
        await self._reply(self._client().eval(LET_GO, 2, OWNERS, SHARDS, owner))

    async def lease(self, name: str, owner: str, lasting_ms: int) -> bool:
        reply = self._client().eval(LEASE_OF_ONE, 1, LEASE + name, owner, str(lasting_ms))
        return bool(await self._reply(reply))

    async def tell_looked(self, windows_ms: Mapping[str, int], failures: Mapping[str, str]) -> None:
        values: Any = dict(windows_ms)
        failing: Any = {job_id: why for job_id, why in failures.items() if why}
        healthy = failures.keys() - failing.keys()
        pipeline = self._client().pipeline(transaction=False)
        if values:
            pipeline.hset(LOOKED, mapping=values)
            pipeline.pexpire(LOOKED, DAY_MS)
        if failing:
            pipeline.hset(FAILURES, mapping=failing)
            pipeline.pexpire(FAILURES, DAY_MS)
        if healthy:
            pipeline.hdel(FAILURES, *healthy)
        if pipeline:
            await self._reply(pipeline.execute())

    async def looked(self) -> Mapping[str, int]:
        told = await self._reply(self._client().hgetall(LOOKED))
        return {job_id.decode(errors="replace"): int(ms) for job_id, ms in told.items()}

    async def failing(self) -> Mapping[str, str]:
        told = await self._reply(self._client().hgetall(FAILURES))
        return {
            job_id.decode(errors="replace"): why.decode(errors="replace")
            for job_id, why in told.items()
        }

    async def close(self) -> None:
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client:
            await client.aclose()

    def _client(self) -> redis.asyncio.Redis:
        # A connection belongs to the event loop it was made in: a server has one, tests many.
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            self._clients = {
                known: c for known, c in self._clients.items() if not known.is_closed()
            }
            self._clients[loop] = redis.asyncio.Redis.from_url(
                self._url,
                socket_connect_timeout=CONNECT_TIMEOUT_S,
                socket_timeout=REPLY_TIMEOUT_S,
            )
        return self._clients[loop]

    @staticmethod
    async def _reply(pending: Awaitable[T]) -> Any:
        try:
            return await pending
        except (RedisError, OSError) as error:
            raise StoreUnavailable(str(error)) from error


def _readable(hashes: Iterable[Mapping[bytes, bytes]]) -> list[Announcement]:
    found = []
    for values in hashes:
        try:
            found.append(from_hash(values))
        except Garbled:
            continue  # written by another program or by a newer Curtail
    return found


def _entry(entry_id: bytes, fields: Mapping[bytes, bytes] | None) -> Entry:
    # An entry without our field is not ours: its empty payload is counted as unreadable later.
    return Entry(int(entry_id.split(b"-")[0]), (fields or {}).get(keys.PAYLOAD, b""))


def _flat(read: Any) -> Any:
    # RESP 3 wraps the entries of a stream in one more list.
    return read[0] if read and isinstance(read[0], list) else read
