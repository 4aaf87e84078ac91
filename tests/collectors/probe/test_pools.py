"""Operator pools as the probe sees them, on pages that only the test writes to."""

import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pyspark.sql import SparkSession

from collectors.formats.codec import Reader
from collectors.formats.parts import UsedPool, used_pool
from collectors.formats.pools import InstanceState, PoolSample, Sent
from techniques.pool.host.meeting_place import meeting_root, space
from techniques.pool.on_spark import made
from techniques.pool.page import DEAD, FINISHES, READY, SERVES, Page, instance_words
from techniques.pool.page_words import HeaderWord, InstanceWord, SlotWord
from techniques.pool.settings import Replay
from tests.collectors.conftest import probe

pytestmark = pytest.mark.spark


class MadePool:
    """A pool's folder with a page that nobody but the test writes to."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.folder = folder
        (folder / "supervisor").write_text("1 1")
        plan = made([lambda one: one] * 2, instances=4, most=4)
        self.page = Page.create(str(folder / "page"), plan, 1 << 16)
        for position in range(2):
            for number in self.page.operator(position):
                self.add(number, InstanceWord.OPERATOR, position)
        self._spark = spark

    def watched(self) -> Any:
        place = probe(self._spark).PoolPlace("score", "0" * 16, java_path(self._spark, self.folder))
        return probe(self._spark).WatchedPool(place, "score")

    def add(self, instance: int, word: int, many: int = 1) -> None:
        self.page.words[self.page.instance(instance, word)] += many

    def done(self, instance: int, latency_us: int, source: int = 0) -> None:
        """A chunk of ten rows, taken and executed."""
        self.page.words[self.page.pair(source, instance)] += 1
        self.add(instance, InstanceWord.EXECUTED)
        self.add(instance, InstanceWord.ROWS_IN, 10)
        self.add(instance, InstanceWord.ROWS_OUT, 9)
        self.page.count_latency(instance, latency_us)


def java_path(spark: SparkSession, path: Path) -> Any:
    jvm: Any = spark.sparkContext._jvm
    return jvm.java.io.File(str(path)).toPath()


def looked(spark: SparkSession, watched: Any, now_ns: int | None = None) -> PoolSample | None:
    """What the probe says at a look, by its own bytes."""
    watched.take()
    seen = watched.look(now_ns if now_ns is not None else time.monotonic_ns())
    return decoded(spark, seen.get()).pool if seen.isDefined() else None


def decoded(spark: SparkSession, sample: Any) -> UsedPool:
    out = probe(spark).Bytes()
    sample.write(out, "node-a")
    return used_pool(Reader(bytes(out.toArray())))


def queries(spark: SparkSession, watched: Any) -> set[str]:
    """Which use the pool, as a look says it."""
    watched.take()
    return set(decoded(spark, watched.look(time.monotonic_ns()).get()).queries)


@pytest.fixture
def made_pool(spark: SparkSession, tmp_path: Path) -> Iterator[MadePool]:
    pool = MadePool(spark, tmp_path)
    try:
        yield pool
    finally:
        pool.page.close()


@pytest.fixture
def watched(made_pool: MadePool) -> Iterator[Any]:
    found = made_pool.watched()
    try:
        yield found
    finally:
        found.close()


def test_the_clock_of_the_page_is_that_of_the_probe(spark: SparkSession) -> None:
    jvm: Any = spark.sparkContext._jvm
    before_ns = time.monotonic_ns()
    probes_ns = jvm.System.nanoTime()
    assert before_ns <= probes_ns <= time.monotonic_ns()


def test_a_look_says_levels_and_what_was_added_since_the_last(
    spark: SparkSession, made_pool: MadePool, watched: Any
) -> None:
    page, words = made_pool.page, made_pool.page.words
    made_pool.done(0, 1_000)
    words[page.instance(0)] = READY
    page.steer(1)
    first = looked(spark, watched)
    assert first is not None
    assert (first.name, first.host, first.policy) == ("score", "node-a", 1)
    assert len(first.operators) == 2
    assert [each.operator for each in first.instances] == [0] * 4 + [1] * 4
    assert first.instances[0].state == InstanceState.READY
    assert (first.instances[0].executed, first.instances[0].latency.count, first.sent) == (0, 0, ())

    for latency_us in (5, 70_000, 70_000):
        made_pool.done(0, latency_us)
    made_pool.done(5, 8, source=1)
    made_pool.add(5, InstanceWord.FAILED)
    made_pool.add(5, InstanceWord.QUEUED, 3)
    words[HeaderWord.REPLACED] = 2
    words[page.slot(7, SlotWord.GENERATION)] = 1
    words[page.slot(7)] = 4711
    words[page.slot(7, SlotWord.CHUNKS)] = 6
    words[page.slot(7, SlotWord.AGAIN)] = 4
    second = looked(spark, watched)
    assert second is not None
    zero, five = second.instances[0], second.instances[5]
    assert (zero.executed, zero.failed, zero.rows_in, zero.rows_out) == (3, 0, 30, 27)
    assert sorted(zero.latency.counts.values()) == [1, 2]
    assert (five.executed, five.failed, five.queued, five.latency.count) == (1, 1, 3, 1)
    assert second.sent == (Sent(0, 0, 3), Sent(1, 5, 1))
    assert (second.replaced, second.held_chunks, second.handed_out_again) == (2, 6, 4)

    third = looked(spark, watched)
    assert third is not None
    assert (sum(each.executed for each in third.instances), third.sent) == (0, ())
    assert third.handed_out_again == 4


def test_instances_that_are_not_there_are_left_out_once_all_that_they_did_is_told(
    spark: SparkSession, made_pool: MadePool, watched: Any
) -> None:
    page, words = made_pool.page, made_pool.page.words

    def retire(*numbers: int) -> None:
        for number in numbers:
            words[page.instance(number)] = DEAD
            words[page.instance(number, InstanceWord.SERVICE)] = FINISHES

    def told() -> tuple[list[int], list[tuple[int, int, int]]]:
        """The operators of the instances, and the chunks sent between them."""
        seen = looked(spark, watched)
        assert seen is not None
        return [each.operator for each in seen.instances], [
            (each.source, each.instance, each.chunks) for each in seen.sent
        ]

    for number in range(8):
        words[page.instance(number)] = READY
    retire(3, 7)
    assert told() == ([0] * 3 + [1] * 3, [])

    # They ended between two looks: one that worked before, and one that sent to another.
    made_pool.done(2, 5)
    made_pool.done(5, 8, source=1 + 1)
    retire(1, 2)
    assert told() == ([0] * 3 + [1] * 3, [(0, 2, 1), (2, 4, 1)])
    assert told() == ([0] + [1] * 3, [])

    # One that dies is to come again; the place of a later one is not told for another's.
    words[page.instance(4)] = DEAD
    retire(5)
    assert told() == ([0] + [1] * 3, [])

    words[page.instance(7)], words[page.instance(7, InstanceWord.SERVICE)] = READY, SERVES
    made_pool.done(7, 8, source=1)
    assert told() == ([0] + [1] * 4, [(1, 4, 1)])


def test_a_look_says_what_steers_a_pool_and_what_that_does(
    spark: SparkSession, made_pool: MadePool, watched: Any
) -> None:
    page, words = made_pool.page, made_pool.page.words
    first = looked(spark, watched)
    assert first is not None
    assert (first.timeout_us, first.replay, first.tau_ms, first.shared_queued) == (0, 0, 0, (0, 0))

    page.steer(4, replay=Replay.HEDGE, tau_ms=80)
    words[HeaderWord.TIMEOUT_US] = 41_000
    words[page.shared_queued(1)] = 12
    for word, many in (
        (InstanceWord.PARKED, 5),
        (InstanceWord.WEIGHT, 2_500),
        (InstanceWord.SIGNAL, 1),
        (InstanceWord.DROPPED, 3),
    ):
        made_pool.add(7, word, many)
    second = looked(spark, watched)
    assert second is not None
    assert (second.policy, second.timeout_us, second.replay, second.tau_ms) == (4, 41_000, 2, 80)
    assert second.shared_queued == (0, 12)
    assert second.room == tuple(len(page.operator(each)) for each in range(page.operators))
    last = second.instances[7]
    assert (last.parked, last.weight, last.signal, last.dropped) == (5, 2_500, 1, 3)

    third = looked(spark, watched)
    assert third is not None
    last = third.instances[7]
    # Levels are told again, chunks once.
    assert (last.parked, last.weight, last.signal, last.dropped) == (5, 2_500, 1, 0)


def counted(pool: PoolSample | None) -> tuple[int, int, int, int]:
    assert pool is not None
    return pool.chunks_sent, pool.replayed, pool.replays_won, pool.results_dropped


def test_what_tasks_did_with_chunks_is_told_once_whoever_has_their_slot(
    spark: SparkSession, made_pool: MadePool, watched: Any
) -> None:
    page, words = made_pool.page, made_pool.page.words

    def count(slot: int, *counters: int) -> None:
        own = (SlotWord.SENT, SlotWord.REPLAYED, SlotWord.WON, SlotWord.TWICE)
        for word, now in zip(own, counters, strict=True):
            words[page.slot(slot, word)] = now

    for slot in (0, 255):
        words[page.slot(slot, SlotWord.GENERATION)] = 1
        words[page.slot(slot)] = 4711
    count(0, 100, 10, 5, 1)
    # How many of these are of this window nobody knows.
    assert counted(looked(spark, watched)) == (0, 0, 0, 0)

    count(0, 107, 12, 6, 1)
    count(255, 20, 4, 3, 2)
    assert counted(looked(spark, watched)) == (27, 6, 4, 2)
    # A task that has ended is still there, until another takes its slot and counts anew.
    count(0, 109, 12, 6, 1)
    words[page.slot(0)] = 0
    assert counted(looked(spark, watched)) == (2, 0, 0, 0)
    words[page.slot(0, SlotWord.GENERATION)] = 2
    count(0, 200, 1, 0, 0)
    assert counted(looked(spark, watched)) == (200, 1, 0, 0)
    assert counted(looked(spark, watched)) == (0, 0, 0, 0)


@pytest.mark.parametrize("value", [2**41, 2**63, 2**64 - 1])
@pytest.mark.parametrize(
    "word",
    [
        lambda page: HeaderWord.TIMEOUT_US,
        lambda page: HeaderWord.SETTINGS,
        lambda page: page.shared_queued(0),
        lambda page: page.instance(3, InstanceWord.WEIGHT),
        lambda page: page.instance(3, InstanceWord.SIGNAL),
        lambda page: page.instance(3, InstanceWord.PARKED),
        lambda page: page.slot(9, SlotWord.SENT),
        lambda page: page.slot(9, SlotWord.AGAIN),
        lambda page: page.slot(9, SlotWord.CHUNKS),
    ],
)
def test_one_word_that_makes_no_sense_gives_nothing_while_it_is_there(
    spark: SparkSession,
    made_pool: MadePool,
    watched: Any,
    word: Callable[[Page], int],
    value: int,
) -> None:
    page, words = made_pool.page, made_pool.page.words
    words[page.slot(9, SlotWord.GENERATION)] = 1
    words[page.slot(9)] = 4711
    before = looked(spark, watched)
    assert before is not None
    at = word(page)
    words[at] = value
    assert looked(spark, watched) is None
    words[at] = 0
    looked(spark, watched)
    after = looked(spark, watched)
    assert after is not None
    assert replace(after, instances=()) == replace(before, instances=())


def test_a_latency_that_is_written_after_its_chunk_was_counted_comes_with_the_next_look(
    spark: SparkSession, made_pool: MadePool, watched: Any
) -> None:
    looked(spark, watched)
    made_pool.add(0, InstanceWord.EXECUTED)
    seen = [looked(spark, watched)]
    made_pool.page.count_latency(0, 9)
    seen += [looked(spark, watched) for _ in range(2)]
    first = [each.instances[0] for each in seen if each is not None]
    assert [(each.executed, each.latency.count) for each in first] == [(1, 0), (0, 1), (0, 0)]


def test_the_queries_that_used_a_pool_are_told_while_it_lives(
    spark: SparkSession, made_pool: MadePool, watched: Any
) -> None:
    page, words = made_pool.page, made_pool.page.words
    first, second, third = sorted(uuid4() for _ in range(3))
    assert queries(spark, watched) == set()

    for slot, query in enumerate((first, second, None)):
        words[page.slot(slot, SlotWord.GENERATION)] = 1
        words[page.slot(slot)] = 4711
        page.use_for(slot, query)
    assert queries(spark, watched) == {str(first), str(second)}

    # Tasks end, and a batch job's and another query's take their places.
    words[page.slot(0)] = 0
    page.use_for(0, None)
    page.use_for(1, third)
    assert queries(spark, watched) == {str(first), str(second), str(third)}


def test_half_a_query_id_is_none(spark: SparkSession, made_pool: MadePool, watched: Any) -> None:
    page, words = made_pool.page, made_pool.page.words
    words[page.slot(0, SlotWord.GENERATION)] = 1
    words[page.slot(0, SlotWord.QUERY_REST)] = 77
    assert queries(spark, watched) == set()


def test_of_very_many_queries_the_last_are_told(
    spark: SparkSession, made_pool: MadePool, watched: Any
) -> None:
    page, words = made_pool.page, made_pool.page.words
    words[page.slot(0, SlotWord.GENERATION)] = 1
    told = [uuid4() for _ in range(40)]
    for query in told:
        page.use_for(0, query)
        queries(spark, watched)
    assert queries(spark, watched) == {str(query) for query in told[-32:]}


def test_busy_time_has_the_chunk_in_work_and_nothing_twice(
    spark: SparkSession, made_pool: MadePool, watched: Any
) -> None:
    words, at = made_pool.page.words, made_pool.page.instance(0)
    words[at], words[at + InstanceWord.INCARNATION] = READY, 1
    start_ns = time.monotonic_ns()

    def busy_us(ms: float) -> int:
        seen = looked(spark, watched, start_ns + int(ms * 1e6))
        assert seen is not None
        return seen.instances[0].busy_us

    assert busy_us(0) == 0
    words[at + InstanceWord.BUSY_SINCE] = start_ns + 10_000_000
    assert [busy_us(50), busy_us(100)] == [40_000, 50_000]
    # As the instance ends a chunk: between its two words, none of them has it.
    words[at + InstanceWord.BUSY_SINCE] = 0
    assert busy_us(105) == 0
    words[at + InstanceWord.BUSY_NS] += 92_000_000
    assert [busy_us(110), busy_us(150)] == [2_000, 0]
    # One that dies leaves its chunk behind, and its successor works on another.
    words[at + InstanceWord.BUSY_SINCE] = start_ns + 150_000_000
    assert busy_us(200) == 50_000
    words[at + InstanceWord.INCARNATION], words[at + InstanceWord.BUSY_SINCE] = 2, 0
    assert busy_us(250) == 0
    words[at + InstanceWord.BUSY_NS] += 30_000_000
    assert busy_us(300) == 30_000


def test_windows_that_share_a_look_share_out_time_and_count_chunks_once(
    spark: SparkSession, made_pool: MadePool, watched: Any
) -> None:
    looked(spark, watched)
    made_pool.done(0, 100)
    made_pool.add(0, InstanceWord.BUSY_NS, 100_001_000)
    made_pool.add(0, InstanceWord.DROPPED, 2)
    made_pool.add(0, InstanceWord.WEIGHT, 50)
    page, words = made_pool.page, made_pool.page.words
    words[page.slot(0, SlotWord.GENERATION)] = 1
    words[page.slot(0, SlotWord.SENT)] = 3
    words[HeaderWord.TIMEOUT_US] = 77
    words[page.shared_queued(0)] = 8
    shared = watched.look(time.monotonic_ns()).get().over(3)
    earlier, last = (decoded(spark, each).pool for each in (shared._1(), shared._2()))
    assert [one.instances[0].busy_us for one in (earlier, last)] == [33_333, 33_335]
    assert [one.instances[0].executed for one in (earlier, last)] == [0, 1]
    assert [one.instances[0].latency.count for one in (earlier, last)] == [0, 1]
    assert [one.instances[0].dropped for one in (earlier, last)] == [0, 2]
    assert [one.chunks_sent for one in (earlier, last)] == [0, 3]
    assert (earlier.sent, last.sent) == ((), (Sent(0, 0, 1),))
    # Levels are of all of them.
    assert [one.instances[0].weight for one in (earlier, last)] == [50, 50]
    assert [one.timeout_us for one in (earlier, last)] == [77, 77]
    assert [one.shared_queued for one in (earlier, last)] == [(8, 0), (8, 0)]


def test_a_counter_that_went_back_gives_no_number(
    spark: SparkSession, made_pool: MadePool, watched: Any
) -> None:
    for _ in range(5):
        made_pool.done(0, 10)
    looked(spark, watched)
    at = made_pool.page.instance(0)
    made_pool.page.words[at + InstanceWord.EXECUTED] = 2
    seen = looked(spark, watched)
    assert seen is not None
    assert (seen.instances[0].executed, seen.instances[0].latency.count) == (0, 0)
    made_pool.done(0, 10)
    seen = looked(spark, watched)
    assert seen is not None
    assert seen.instances[0].executed == 1


@pytest.mark.parametrize(
    "word",
    [
        HeaderWord.MAGIC,
        HeaderWord.VERSION,
        HeaderWord.OPERATORS,
        HeaderWord.INSTANCES,
        HeaderWord.SLOTS,
        HeaderWord.BUCKETS,
    ],
)
@pytest.mark.parametrize("value", [0, 2**31, 2**64 - 1])
def test_a_page_that_is_none_gives_nothing(
    spark: SparkSession, made_pool: MadePool, watched: Any, word: int, value: int
) -> None:
    made_pool.page.words[word] = value
    assert looked(spark, watched) is None


@pytest.mark.parametrize("value", [77, 2**63, 2**64 - 1])
def test_numbers_that_make_no_sense_give_nothing_and_it_goes_on_after_them(
    spark: SparkSession, made_pool: MadePool, watched: Any, value: int
) -> None:
    words, at = made_pool.page.words, made_pool.page.instance(0)
    looked(spark, watched)
    for word in range(at, at + instance_words(made_pool.page.instances)):
        words[word] = value
    assert looked(spark, watched) is None
    for word in range(at, at + instance_words(made_pool.page.instances)):
        words[word] = 0
    looked(spark, watched)
    made_pool.done(0, 10)
    seen = looked(spark, watched)
    assert seen is not None
    assert (seen.instances[0].executed, seen.instances[0].latency.count) == (1, 1)


def test_a_page_that_somebody_cuts_short_is_left_alone(
    spark: SparkSession, made_pool: MadePool, watched: Any
) -> None:
    assert looked(spark, watched) is not None
    os.truncate(made_pool.folder / "page", 512)
    assert [looked(spark, watched) for _ in range(2)] == [None, None]


HOLDER = """
import fcntl, sys
with open(sys.argv[1], "r+b") as file:
    fcntl.lockf(file, fcntl.LOCK_EX)
    print("held", flush=True)
    sys.stdin.read()
"""


def test_one_executor_of_a_host_tells_of_a_pool_and_another_when_it_was_killed(
    spark: SparkSession, made_pool: MadePool, watched: Any
) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(made_pool.folder / "supervisor")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        assert looked(spark, watched) is None
    finally:
        holder.kill()
        holder.communicate()
    assert looked(spark, watched) is not None
    # And now the other way round: who comes later finds it taken.
    with (
        open(made_pool.folder / "supervisor", "r+b") as file,
        pytest.raises(OSError, match="Errno"),
    ):
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    other = made_pool.watched()
    assert looked(spark, other) is None
    other.close()


def test_a_pool_is_found_where_its_tasks_meet(spark: SparkSession, tmp_path: Path) -> None:
    context = spark.sparkContext
    root = tmp_path / meeting_root().name
    meeting = root / f"{space()}-app-1-my-score-{'a1' * 8}"
    where = tmp_path / "where it is"
    for folder in (root, meeting, where):
        folder.mkdir(mode=0o700)
    alive = f"{where} {os.getpid()} {_started()}"
    (meeting / "current").write_text(alive)
    jvm: Any = context._jvm
    conf = jvm.org.apache.spark.SparkConf(False)
    conf.set("spark.executorEnv.TMPDIR", str(tmp_path)).set("spark.app.id", "app-1")

    def found() -> list[tuple[str, str]]:
        listed = probe(spark).PoolPlaces.of(conf).found()
        each = [listed.apply(at) for at in range(listed.size())]
        return [(one.name(), str(one.where().toString())) for one in each]

    assert found() == [("my-score", str(where))]
    conf.set("spark.app.id", "app-2")
    assert found() == []
    conf.set("spark.app.id", "app-1")
    for said in (f"{where} {os.getpid()} 1", f"{where} x y", "", f"{tmp_path}/gone {alive[-9:]}"):
        (meeting / "current").write_text(said)
        assert found() == [], said
    (meeting / "current").write_text(alive)
    for folder in (root, meeting, where):
        folder.chmod(0o750)
        assert found() == [], folder
        folder.chmod(0o700)
    assert found() == [("my-score", str(where))]


def _started() -> str:
    return Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]
