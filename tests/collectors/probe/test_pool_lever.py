"""The pool lever of the probe, on real pools and on pages that only the test writes to."""

import json
import os
import random
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from techniques.pool.on_spark import made
from techniques.pool.page import READY, Page
from techniques.pool.page_words import HeaderWord, InstanceWord, OperatorWord, SlotWord
from techniques.pool.policies import POLICIES
from techniques.pool.settings import NAMES, SETTINGS
from tests.collectors.conftest import probe
from tests.collectors.probe.test_pools import java_path
from tests.techniques.pool import operators
from tests.techniques.pool.operators import rows
from tests.techniques.pool.running import PATIENCE_S, Driven, driven
from tests.waiting import until

pytestmark = pytest.mark.spark

NAME = "acts"
INSTANCES = 3
MISSING_MS = 1_500
Refused = dict[int, str]


class Lever:
    """The probe's lever of one executor, told orders by their JSON; nobody else tells it any."""

    def __init__(self, spark: SparkSession, application: str) -> None:
        self._probe = probe(spark)
        jvm: Any = spark.sparkContext._jvm
        conf = jvm.org.apache.spark.SparkConf(False).set("spark.app.id", application)
        self._pools = self._probe.Pools(self._probe.PoolPlaces.of(conf))
        self._lever = self._probe.PoolLever.here(self._pools, MISSING_MS)
        self.host = str(spark.sparkContext.getConf().get("spark.driver.host"))

    @property
    def settled(self) -> bool:
        return bool(self._lever.settled())

    def hold(self, *values: Any, pool: str = NAME, host: str | None = None) -> Refused:
        """One round, with an order for each of `values`, numbered from 1."""
        host = self.host if host is None else host
        to = {"place": "pool", "host": host, "pool": pool}
        orders = [
            {"number": at, "lever": "pool", "to": to, "query": "q", "run": "r", "values": each}
            for at, each in enumerate(values, start=1)
        ]
        document = json.dumps({"edition": 1, "lease_ms": 9_000, "orders": orders}).encode()
        self._pools.look()
        # What only the package may call has no static method.
        levers = getattr(getattr(self._probe, "Levers$"), "MODULE$")
        read = levers.read(self._probe.Edition(1, 9_000, document))
        refused = self._lever.hold(read).iterator()
        found: Refused = {}
        while refused.hasNext():
            pair = refused.next()
            found[pair._1()] = pair._2()
        return found

    def held(self, *values: Any, pool: str = NAME) -> None:
        """Until it is so."""
        until(lambda: self.hold(*values, pool=pool) == {} and self.settled, PATIENCE_S)

    def refused(self, *values: Any, pool: str = NAME) -> Refused:
        return until(lambda: self.hold(*values, pool=pool), PATIENCE_S)

    def end(self) -> None:
        self._pools.close()


@pytest.fixture(scope="module")
def pool() -> Iterator[Driven]:
    with driven(
        [operators.act, operators.add_one],
        instances=[INSTANCES - 1, 1],
        most=[INSTANCES - 1, 3],
        chunk_rows=10,
        name=NAME,
        memory_mb=16,
    ) as started:
        started.rows([rows(10)])
        for one in range(INSTANCES):
            started.pid_of(one)
        yield started


@pytest.fixture
def lever(spark: SparkSession, pool: Driven) -> Iterator[Lever]:
    made_lever = Lever(spark, pool.application)
    try:
        yield made_lever
        made_lever.held()
    finally:
        made_lever.end()


def steering_words(page: Page) -> list[int]:
    """All that a lever may write, apart from the version."""
    words = page.words
    each = [
        words[page.instance(one, word)]
        for one in range(page.instances)
        for word in (InstanceWord.SHARE, InstanceWord.SHARE_FOUND)
    ]
    settings = [
        words[first + place]
        for first in (HeaderWord.SETTINGS, HeaderWord.SETTINGS_FOUND)
        for place in range(len(SETTINGS))
    ]
    instances = [
        words[page.of_operator(position, word)]
        for position in range(page.operators)
        for word in (OperatorWord.WANTED, OperatorWord.WANTED_FOUND)
    ]
    return [page.control[1], words[HeaderWord.POLICY_FOUND], *settings, *each, *instances]


def settings_of(page: Page) -> dict[str, int]:
    return {each.name: page.setting(place) for place, each in enumerate(SETTINGS)}


def test_a_policy_is_in_force_when_the_lever_has_settled_and_off_sets_it_back(
    pool: Driven, lever: Lever
) -> None:
    with pool.page() as page:
        before, (version, _) = steering_words(page), page.control
        lever.held({"policy": "fewest-queued"})
        assert pool.running.policy() == "fewest-queued"
        assert page.control[0] == version + 1
        assert page.seen_by_all(version + 1)

        lever.hold({"policy": "fewest-queued"})
        assert page.control[0] == version + 1, "asked again, nothing is to change"

        lever.held()
        assert steering_words(page) == before
        assert page.control[0] == version + 2


def test_a_switch_is_settled_while_tasks_work_and_while_spark_leaves_one_standing(
    pool: Driven, lever: Lever, tmp_path: Path
) -> None:
    first, rest = (rows(1, {0: operators.AWAIT}, note=str(tmp_path / name)) for name in "ab")
    results = pool.results([first, *[rest] * 6], window=3)
    with pool.page() as page, ThreadPoolExecutor(1) as spark_task:

        def outstanding() -> int:
            return sum(page.words[page.slot(one, SlotWord.CHUNKS)] for one in page.holders())

        one_result = spark_task.submit(next, results)
        until(lambda: outstanding() == 3, PATIENCE_S)
        (tmp_path / "a").touch()
        one_result.result()
        # Nobody asks this task for more, and it has chunks in the pool.
        assert outstanding() == 2
        (tmp_path / "b").touch()
        lever.held({"policy": "fewest-queued"})
        for _ in range(3):
            next(results)
        assert page.seen_by_all(page.control[0])
    assert sum(batch.num_rows for batch in results) == 3


def test_shares_are_set_by_instance_and_set_back(pool: Driven, lever: Lever) -> None:
    with pool.page() as page:

        def shares() -> list[int]:
            at = [page.instance(one, InstanceWord.SHARE) for one in range(page.instances)]
            return [page.words[one] for one in at]

        page.words[page.instance(1, InstanceWord.SHARE)] = 7
        before, (version, policy) = steering_words(page), page.control
        lever.held({"shares": {"0": 40, "1": 60}})
        assert (shares(), page.control) == ([40, 60, 0, 0, 0], (version + 1, policy))

        lever.held({"shares": {"0": 40}, "policy": "fewest-queued"})
        assert (shares(), page.control) == ([40, 7, 0, 0, 0], (version + 2, 1))

        lever.held()
        assert steering_words(page) == before
        page.words[page.instance(1, InstanceWord.SHARE)] = 0


def test_settings_are_set_by_name_and_set_back_one_version_for_each_change(
    pool: Driven, lever: Lever
) -> None:
    with pool.page() as page:
        page.words[HeaderWord.SETTINGS + NAMES.index("replay_budget")] = 700
        before, found, (version, policy) = steering_words(page), settings_of(page), page.control
        lever.held({"settings": {"replay_budget": 0, "tau_ms": 80}})
        assert settings_of(page) == found | {"replay_budget": 0, "tau_ms": 80}
        assert page.control == (version + 1, policy)

        lever.hold({"settings": {"replay_budget": 0, "tau_ms": 80}})
        assert page.control == (version + 1, policy), "asked again, nothing is to change"

        asked = {"policy": "fewest-queued", "shares": {"0": 40}, "settings": {"tau_ms": 20}}
        lever.held(asked)
        assert settings_of(page) == found | {"tau_ms": 20}
        assert page.control == (version + 2, 1)

        lever.held()
        assert steering_words(page) == before
        assert page.control[0] == version + 3
        default = SETTINGS[NAMES.index("replay_budget")].default
        page.words[HeaderWord.SETTINGS + NAMES.index("replay_budget")] = default


@pytest.mark.parametrize("bound", ["low", "high"])
def test_every_setting_may_be_at_its_bounds(pool: Driven, lever: Lever, bound: str) -> None:
    with pool.page() as page:
        # Nothing but the words: what a pool does at every bound is not this test's.
        asked = {each.name: getattr(each, bound) for each in SETTINGS}
        before = steering_words(page)
        until(lambda: lever.hold({"settings": asked}) == {} and settings_of(page) == asked, 60)
        lever.held()
        assert steering_words(page) == before


def test_a_pool_that_is_made_anew_is_steered_again(pool: Driven, lever: Lever) -> None:
    lever.held({"policy": "fewest-queued"})
    where = pool.running.where
    pool.end()
    pool.rows([rows(10)])
    assert pool.running.where != where
    until(
        lambda: (
            lever.hold({"policy": "fewest-queued"}) == {}
            and pool.running.policy() == "fewest-queued"
        ),
        PATIENCE_S,
    )
    lever.held()
    assert pool.running.policy() == "round-robin"


def test_what_a_killed_executor_held_is_set_back_by_the_next_one(
    spark: SparkSession, pool: Driven, lever: Lever
) -> None:
    with pool.page() as page:
        before = steering_words(page)
        asked = {"policy": "fewest-queued", "shares": {"2": 9}, "settings": {"replay": 1}}
        lever.held(asked | {"instances": {"add_one": 2}})
        assert page.serving == INSTANCES + 1
        assert page.setting(NAMES.index("replay")) == 1
        lever.end()  # its lock is free, and it has set nothing back
        other = Lever(spark, pool.application)
        try:
            until(lambda: other.hold() == {} and steering_words(page) == before, PATIENCE_S)
        finally:
            other.end()


def test_only_the_executor_that_reads_the_page_writes_to_it(
    spark: SparkSession, pool: Driven, lever: Lever
) -> None:
    lever.held()
    other = Lever(spark, pool.application)
    try:
        with pool.page() as page:
            version = page.control
            deadline_s = time.monotonic() + 2 * MISSING_MS / 1000
            while time.monotonic() < deadline_s:
                assert other.hold({"policy": "fewest-queued"}) == {}
            assert other.settled
            assert page.control == version
    finally:
        other.end()


def test_an_order_for_another_host_is_nothing_to_this_one(pool: Driven, lever: Lever) -> None:
    lever.held()
    with pool.page() as page:
        control_word = page.control
        assert lever.hold({"policy": "fewest-queued"}, host="10.9.8.7") == {}
        assert lever.settled
        assert page.control == control_word


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"policy": "best"}, f'no policy "best"; there are {", ".join(POLICIES)}'),
        ({"policy": 1}, f"no policy 1; there are {', '.join(POLICIES)}"),
        ({}, "neither a policy nor shares nor settings nor instances are asked for"),
        ([1], "neither a policy nor shares nor settings nor instances are asked for"),
        (
            {"speed": 3},
            "an order for a pool has no speed; it has policy, shares, settings, instances",
        ),
        ({"instances": 3}, "instances are by operator, not 3"),
        (
            {"instances": {"add_one": 0}},
            "the instances of add_one must be a whole number from 1 to 64, not 0",
        ),
        (
            {"instances": {"add_one": "2"}},
            'the instances of add_one must be a whole number from 1 to 64, not "2"',
        ),
        ({"instances": {"rank": 2}}, "no operator rank; the pool has act, add_one"),
        (
            {"instances": {"act": 1, "add_one": 4}},
            "add_one has room for 3 instances, not 4: pooled(…, most=4)",
        ),
        (
            {"settings": {"replay_budget": 20_000}},
            "replay_budget must be between 0 and 10000, not 20000",
        ),
        ({"settings": {"tau_ms": -1}}, "tau_ms must be between 0 and 10000, not -1"),
        ({"settings": {"replay": 2**40}}, f"replay must be between 0 and 3, not {2**40}"),
        (
            {"settings": {"balance_alpha": 0.5}},
            "balance_alpha must be a whole number between 1 and 1000, not 0.5",
        ),
        (
            {"policy": "shared-queue", "settings": {"tau_ms": "80"}},
            'tau_ms must be a whole number between 0 and 10000, not "80"',
        ),
        (
            {"settings": {"speed": 3}},
            f"a pool has no setting speed; there are {', '.join(NAMES)}",
        ),
        ({"settings": [80]}, "settings are by name, not [80]"),
        ({"shares": {"5": 40}}, "the pool has instances 0 to 4, not 5"),
        ({"shares": {"-1": 40}}, "no instance -1"),
        ({"shares": {"4000000000": 40}}, "no instance 4000000000"),
        ({"shares": [40]}, "shares are by instance, not [40]"),
        (
            {"shares": {"1": 101}},
            "the share of instance 1 must be a whole number from 1 to 100, not 101",
        ),
        (
            {"policy": "fewest-queued", "shares": {"1": 0}},
            "the share of instance 1 must be a whole number from 1 to 100, not 0",
        ),
        (
            {"shares": {"1": 1.5}},
            "the share of instance 1 must be a whole number from 1 to 100, not 1.5",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_and_changes_nothing(
    pool: Driven, lever: Lever, values: Any, why: str
) -> None:
    with pool.page() as page:
        before = page.control, steering_words(page)
        assert lever.refused(values) == {1: why}
        assert lever.settled
        assert (page.control, steering_words(page)) == before


def test_a_refused_order_ends_what_the_one_before_it_held(pool: Driven, lever: Lever) -> None:
    lever.held({"policy": "fewest-queued"})
    assert lever.refused({"policy": "best"})
    assert pool.running.policy() == "round-robin"


def test_of_two_orders_for_a_pool_the_second_is_refused(pool: Driven, lever: Lever) -> None:
    asked = [{"policy": "fewest-queued"}, {"policy": "round-robin"}]
    assert lever.refused(*asked) == {2: f"order 1 steers the pool {NAME} already"}
    until(lambda: lever.hold(*asked) and pool.running.policy() == "fewest-queued", PATIENCE_S)


def test_the_size_of_a_pool_is_another_orders_than_its_dispatch(pool: Driven, lever: Lever) -> None:
    with pool.page() as page:
        before = steering_words(page)
        lever.held({"policy": "fewest-queued"}, {"instances": {"add_one": 3}})
        assert (pool.running.policy(), len(page.ready(0)), page.serving) == ("fewest-queued", 2, 5)
        until(lambda: len(page.ready(1)) == 3, PATIENCE_S)
        assert len(pool.rows([rows(100)])) == 100

        # The lever has not settled before nobody chooses the other two any more.
        lever.held({"instances": {"act": 1, "add_one": 1}})
        assert (len(page.ready(0)), len(page.ready(1)), page.serving) == (1, 1, 2)
        assert pool.running.policy() == "round-robin"

        asked = [{"instances": {"act": 1}}, {"policy": "fewest-queued", "instances": {"act": 2}}]
        assert lever.refused(*asked) == {2: f"order 1 steers the pool {NAME} already"}
        lever.held()
        assert steering_words(page) == before
        assert page.serving == INSTANCES


def test_a_supervisor_that_does_not_answer_is_refused_in_the_end(
    pool: Driven, lever: Lever
) -> None:
    lever.held()
    asked = {"instances": {"add_one": 2}}
    supervisor = pool.supervisor().pid
    os.kill(supervisor, signal.SIGSTOP)
    try:
        assert lever.hold(asked) == {}
        assert not lever.settled
        assert lever.refused(asked) == {1: f"not all of the pool {NAME} answer"}
        assert lever.settled
    finally:
        os.kill(supervisor, signal.SIGCONT)
    lever.held(asked)


def test_a_pool_that_is_not_there_is_waited_for_and_then_refused(lever: Lever) -> None:
    began_s = time.monotonic()
    assert lever.hold({"policy": "round-robin"}, pool="none") == {}
    assert not lever.settled
    assert lever.refused({"policy": "round-robin"}, pool="none") == {
        1: "no pool none runs on this host"
    }
    assert lever.settled
    assert time.monotonic() - began_s >= MISSING_MS / 1000


def test_a_pool_whose_instance_does_not_answer_is_refused_in_the_end(
    pool: Driven, lever: Lever
) -> None:
    lever.held()
    pid = pool.pid_of(0)
    os.kill(pid, signal.SIGSTOP)
    try:
        assert lever.hold({"policy": "fewest-queued"}) == {}
        assert not lever.settled
        why = f"not all of the pool {NAME} answer"
        assert lever.refused({"policy": "fewest-queued"}) == {1: why}
        assert lever.settled
    finally:
        os.kill(pid, signal.SIGCONT)
    lever.held({"policy": "fewest-queued"})


def test_both_sides_agree_who_has_seen_the_control_word(
    spark: SparkSession, tmp_path: Path
) -> None:
    page = Page.create(str(tmp_path / "page"), made([lambda one: one], instances=2), 1 << 16)
    scala = probe(spark).PoolPage.open(java_path(spark, tmp_path / "page"), False).get()
    chance = random.Random(7)
    answers = []
    try:
        for _ in range(400):
            for at in (page.instance(0), page.instance(1)):
                page.words[at + InstanceWord.STATE] = chance.choice([0, 1, READY, READY])
                page.words[at + InstanceWord.BUSY_SINCE] = chance.choice([0, 0, 77])
                page.words[at + InstanceWord.CONTROL_SEEN] = chance.randrange(4)
            for at in (page.slot(0), page.slot(255)):
                page.words[at + SlotWord.PID] = chance.choice([0, 4711])
                page.words[at + SlotWord.CHUNKS] = chance.choice([0, 2])
                page.words[at + SlotWord.AWAY] = chance.choice([0, 0, 1])
                page.words[at + SlotWord.CONTROL_SEEN] = chance.randrange(4)
            answers.append(page.seen_by_all(2))
            assert scala.seenByAll(2) == answers[-1]
        assert 50 < sum(answers) < 350
    finally:
        scala.close()
        page.close()
