"""A job in a real Redis, as its collector would have written it: the paper's scheduled ShadowSync.

A batch a second; two stages of eight state stores that flush with it. Those of stage 0 count their
flushes in step and all compact after every fourth; those of stage 1 each compact at a time of their
own. Records of the slow batches wait. Made up, and the same for the same second.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from redis import Redis

from collectors.formats import activity, keys, wire
from collectors.formats.activity import Activity, Kind
from collectors.formats.announcement import Announcement, to_hash
from collectors.formats.buckets import Histogram
from collectors.formats.keys import Entry, Stream
from collectors.formats.metrics import BY_NAME
from collectors.formats.samples import ExecutorSample
from collectors.formats.wire import WINDOW_MS, Frame, OperatorState, TaskCounts
from tests.factories import RUN_ID

JOB = "traffic-jam.ranking"
STORES = 8
EVERY = 4
PER_SECOND = 1000 // WINDOW_MS
HOSTS = {"1": "worker-1", "2": "worker-2"}
PHASES = {"latestOffset": 8, "walCommit": 22, "getBatch": 2, "queryPlanning": 36}


def plant(redis: Redis, end_ms: int, seconds: int) -> None:
    """The whole seconds before `end_ms`, and the job's heartbeat."""
    send(redis, entries(end_ms, seconds))
    beat(redis, end_ms)


def send(redis: Redis, streams: Mapping[Stream, Sequence[Entry]]) -> None:
    pipeline = redis.pipeline(transaction=False)
    for stream, every in streams.items():
        for at_ms, payload in every:
            pipeline.xadd(stream.key, {keys.PAYLOAD: payload}, id=f"{at_ms}-0")
    pipeline.execute()


def entries(end_ms: int, seconds: int) -> dict[Stream, list[Entry]]:
    """What the collector sends of the whole seconds before `end_ms`."""
    found: dict[Stream, list[Entry]] = {keys.frames(JOB): [], keys.activities(JOB): []}
    for second in range(end_ms // 1000 - seconds, end_ms // 1000):
        ended = list(_activities(second))
        frames = [_frame(second, place, ended) for place in range(PER_SECOND)]
        found[keys.frames(JOB)] += [Entry(each.start_ms, wire.encode(each)) for each in frames]
        ran = Entry(second * 1000 + 950, activity.encode(ended))
        found[keys.activities(JOB)].append(ran)
    return found


def beat(redis: Redis, now_ms: int) -> None:
    said = Announcement(
        job_id=JOB,
        application="traffic-jam",
        query="ranking",
        run_id=str(RUN_ID),
        application_id="app-20261116-0004",
        spark_version="4.3.0",
        driver_host="driver-1",
        started_ms=now_ms - 5_400_000,
        heartbeat_ms=now_ms,
    )
    redis.hset(keys.job(JOB), mapping=to_hash(said))  # type: ignore[arg-type]
    redis.zadd(keys.JOBS, {JOB: now_ms})


def is_slow(second: int) -> bool:
    return second % EVERY == 0


def _activities(second: int) -> Iterator[Activity]:
    chance = random.Random(second)
    at_us = second * 1_000_000
    began_us = at_us + 60_000
    took_us = (860_000 if is_slow(second) else 420_000) + chance.randrange(40_000)
    name = f"batch {second % 100_000}"
    yield Activity(Kind.BATCH, began_us, began_us + took_us, name=name)
    for phase, ms in {**PHASES, "addBatch": took_us // 1000 - 90}.items():
        yield Activity(Kind.PHASE, began_us, began_us + ms * 1000, name=phase, reason=name)
        began_us += ms * 1000
    yield Activity(Kind.PHASE, began_us, began_us + 22_000, name="commitOffsets", reason=name)
    if second % 7 == 0:
        yield Activity(Kind.GC, at_us + 700_000, at_us + 724_000, "1", name="G1 Young Generation")
    for stage in (0, 1):
        for store in range(STORES):
            executor = "1" if store % 2 else "2"
            from_us = at_us + 180_000 + chance.randrange(40_000)
            until_us = from_us + chance.randrange(14_000, 45_000)
            size = chance.randrange(800_000, 1_100_000)
            flush = Activity(Kind.FLUSH, from_us, until_us, executor, stage, store)
            yield replace(flush, input_bytes=size)
            if second % EVERY == (0 if stage == 0 else store % EVERY):
                lasts_us = chance.randrange(280_000, 520_000) if stage == 0 else 90_000
                starts_us = until_us + 2_000
                yield replace(
                    flush,
                    kind=Kind.COMPACTION,
                    start_us=starts_us,
                    end_us=starts_us + lasts_us,
                    input_bytes=EVERY * size,
                )


def _frame(second: int, place: int, ended: list[Activity]) -> Frame:
    chance = random.Random(second * PER_SECOND + place)
    at_ms = second * 1000 + place * WINDOW_MS
    busy = is_slow(second) and 4 <= place <= 13
    usual_ms = 150 + 12 * (place % 4)
    if busy:
        usual_ms += 60 * (place - 3)
    latencies = [usual_ms * chance.lognormvariate(0, 0.22) for _ in range(40)]
    share = 1.0 if busy else 0.34 + 0.2 * (place < 9) + chance.uniform(-0.05, 0.05)
    return Frame(
        window=at_ms // WINDOW_MS,
        sequence=second * PER_SECOND + place,
        run_id=RUN_ID,
        latency=Histogram.of(round(ms * 1000) for ms in latencies),
        stamped=True,
        backlog_rows=round(2_000 + (9_000 if busy else 0) * chance.uniform(0.6, 1)),
        executors=tuple(_sample(*each, share, chance) for each in HOSTS.items()),
        tasks=TaskCounts(running=4 if place < 9 or busy else 0, waiting=6 if busy else 0),
        state=tuple(_state(stage, at_ms, ended) for stage in (0, 1)),
    )


def _sample(executor: str, host: str, share: float, chance: random.Random) -> ExecutorSample:
    used = min(1.0, share * chance.uniform(0.93, 1.0) if share < 1 else share)
    return ExecutorSample(
        executor,
        host,
        {
            BY_NAME["host_cpu"].id: round(used * 1000),
            BY_NAME["process_cpu_us"].id: round(used * 1.9 * WINDOW_MS * 1000),
        },
    )


def _state(stage: int, at_ms: int, ended: list[Activity]) -> OperatorState:
    def at_once(kind: Kind) -> int:
        return sum(
            each.kind is kind
            and each.operator == stage
            and each.start_us < (at_ms + WINDOW_MS) * 1000
            and each.end_us >= at_ms * 1000
            for each in ended
        )

    return OperatorState(stage, at_once(Kind.FLUSH), at_once(Kind.COMPACTION))
