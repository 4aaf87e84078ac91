"""The papers' techniques on a pool of real processes: what each changes, and that no row is lost or
doubled whatever dies or is switched meanwhile."""

import itertools
import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from techniques.pool.host.supervisor import TICK_S
from techniques.pool.page import Page
from techniques.pool.page_words import HeaderWord, InstanceWord, SlotWord
from techniques.pool.policies import POLICIES
from techniques.pool.settings import Replay
from techniques.pool.workload.heterogeneity import Heterogeneous
from tests.techniques.pool import operators
from tests.techniques.pool.operators import rows
from tests.techniques.pool.running import PATIENCE_S, Driven, driven
from tests.waiting import until

INSTANCES = 3
# One instance is ten times slower than its siblings.
SLOW, TIMES, COST_US = 0, 10.0, 2000


@pytest.fixture(scope="module")
def pool() -> Iterator[Driven]:
    uneven = Heterogeneous(operators.act, COST_US, {SLOW: TIMES})
    with driven(uneven, instances=INSTANCES, chunk_rows=1, window=32, name="uneven") as started:
        started.rows([rows(10)])
        for one in range(INSTANCES):
            started.pid_of(one)
        yield started


@pytest.fixture(scope="module")
def chain() -> Iterator[Driven]:
    with driven(
        [operators.act, operators.add_one], instances=[2, 2], chunk_rows=2, name="steered"
    ) as started:
        started.rows([rows(10)])
        yield started


@contextmanager
def steered(pool: Driven, policy: str = "round-robin", **settings: int) -> Iterator[Page]:
    pool.running.switch(policy, **settings)
    try:
        with pool.page() as page:
            yield page
    finally:
        pool.running.switch("round-robin")


def total(page: Page, word: int) -> int:
    return sum(page.words[page.slot(slot, word)] for slot in range(page.slots))


def of_instances(page: Page, word: int) -> list[int]:
    return [page.words[page.instance(one, word)] for one in range(page.instances)]


def once_each(
    pool: Driven, count: int, note: str = "", asked: dict[int, int] | None = None
) -> bool:
    """Whether every row that is given comes back, and none twice."""
    found = [row["id"] for row in pool.rows([rows(count, asked, note)])]
    return sorted(found) == list(range(count))


# ---- the shared queue ---------------------------------------------------------------------


def test_under_a_shared_queue_who_is_free_takes_the_next_chunk(pool: Driven) -> None:
    with steered(pool, "shared-queue") as page:
        before = of_instances(page, InstanceWord.EXECUTED)
        assert once_each(pool, 300)
        took = [
            now - then
            for now, then in zip(of_instances(page, InstanceWord.EXECUTED), before, strict=True)
        ]
        assert sum(of_instances(page, InstanceWord.SHARED)) >= 300 - 32
    # Round robin would give the slow one a third.
    assert took[SLOW] < 300 / INSTANCES / 2


def test_a_switch_to_the_shared_queue_and_back_loses_and_doubles_nothing(pool: Driven) -> None:
    with steered(pool):
        stop = threading.Event()
        switching = threading.Thread(target=keep_switching, args=(pool, stop))
        switching.start()
        try:
            for _ in range(3):
                assert once_each(pool, 300)
        finally:
            stop.set()
            switching.join()


def keep_switching(pool: Driven, stop: threading.Event) -> None:
    for policy in itertools.cycle(POLICIES):
        if stop.wait(random.uniform(0.01, 0.1)):
            return
        pool.running.switch(policy, replay=random.choice(list(Replay)), replay_budget=5000)


@pytest.mark.parametrize("policy", POLICIES)
def test_an_instance_killed_in_the_middle_of_a_chunk_loses_nothing_under(
    policy: str, pool: Driven, tmp_path: Path
) -> None:
    with steered(pool, policy, replay=Replay.BLIND, replay_budget=5000):
        died = tmp_path / "died"
        assert once_each(pool, 200, str(died), {77: operators.DIE_ONCE})
        assert died.exists()


def test_instances_killed_again_and_again_lose_nothing_of_a_shared_chain(chain: Driven) -> None:
    with steered(chain, "shared-queue"):
        stop = threading.Event()
        killing = threading.Thread(target=keep_killing, args=(chain, stop))
        killing.start()
        try:
            found = chain.rows([rows(600, dict.fromkeys(range(0, 600, 3), operators.SLEEP))])
        finally:
            stop.set()
            killing.join()
    assert sorted(row["id"] for row in found) == list(range(600))
    assert all(row["twice"] == 2 * row["id"] + 1 for row in found)


def keep_killing(pool: Driven, stop: threading.Event) -> None:
    for number in itertools.cycle(range(4)):
        if stop.wait(0.3):
            return
        os.kill(pool.pid_of(number), signal.SIGKILL)


def test_a_supervisor_killed_while_techniques_are_on_loses_nothing() -> None:
    with driven(operators.act, instances=2, chunk_rows=1, name="orphan") as own:
        own.rows([rows(10)])
        own.running.switch("shared-queue", replay=Replay.BLIND, replay_budget=10_000, tau_ms=20)
        results = own.results([rows(400, dict.fromkeys(range(400), operators.SLEEP))])
        found = [next(results)]
        os.kill(own.supervisor().pid, signal.SIGKILL)
        found += results
        ids = sorted(row["id"] for batch in found for row in batch.to_pylist())
        assert ids == list(range(400))


# ---- replays ------------------------------------------------------------------------------


def test_blind_replication_sends_all_twice_and_emits_each_once(pool: Driven) -> None:
    with steered(pool, replay=Replay.BLIND, replay_budget=10_000) as page:
        taken = sum(of_instances(page, InstanceWord.TAKEN))
        assert once_each(pool, 150)
        until(lambda: sum(of_instances(page, InstanceWord.TAKEN)) == taken + 300, PATIENCE_S)


def test_a_chunk_that_hangs_is_done_by_another_instance(pool: Driven) -> None:
    with steered(pool, replay=Replay.ADAPTIVE, replay_budget=10_000, replay_period_ms=100) as page:
        assert once_each(pool, 60)
        until(lambda: page.words[HeaderWord.TIMEOUT_US], PATIENCE_S)
        won = total(page, SlotWord.WON)
        stopped = pool.pid_of(1)
        os.kill(stopped, signal.SIGSTOP)
        try:
            assert once_each(pool, 60)
        finally:
            os.kill(stopped, signal.SIGCONT)
        # Without the second copies the chunks of the stopped instance would have waited for ever.
        assert total(page, SlotWord.WON) > won
        # What is left in its queue is dropped unworked when it goes on: the result is there.
        until(lambda: of_instances(page, InstanceWord.DROPPED)[1], PATIENCE_S)


def test_without_a_budget_nothing_is_replayed(pool: Driven) -> None:
    with steered(pool, replay=Replay.HEDGE, replay_budget=0, replay_period_ms=100) as page:
        assert once_each(pool, 100)
        until(lambda: page.words[HeaderWord.TIMEOUT_US], PATIENCE_S)
        before = total(page, SlotWord.REPLAYED)
        assert once_each(pool, 100)
        # One was earned before the technique was switched on.
        assert total(page, SlotWord.REPLAYED) - before <= 1


def test_switched_off_there_is_no_timeout(pool: Driven) -> None:
    with steered(pool, replay=Replay.ADAPTIVE, replay_period_ms=100) as page:
        assert once_each(pool, 30)
        until(lambda: page.words[HeaderWord.TIMEOUT_US], PATIENCE_S)
    with pool.page() as page:
        until(lambda: not page.words[HeaderWord.TIMEOUT_US], PATIENCE_S)


# ---- weights ------------------------------------------------------------------------------


def test_weights_move_from_the_slow_instance_to_the_fast_ones(pool: Driven) -> None:
    with steered(pool, "latency-weighted", balance_period_ms=100, balance_unit=500) as page:
        at = [page.instance(one, InstanceWord.WEIGHT) for one in range(INSTANCES)]
        share = 10_000 / INSTANCES

        def moved() -> bool:
            assert once_each(pool, 100)
            weights = [page.words[one] for one in at]
            return weights[SLOW] < share / 2 and all(one >= 100 for one in weights)

        until(moved, PATIENCE_S)
    with pool.page() as page:
        assert once_each(pool, 30)
        until(lambda: not any(of_instances(page, InstanceWord.WEIGHT)), PATIENCE_S)


@pytest.mark.parametrize("policy", ["power-of-two", "fewest-queued"])
def test_fresh_queue_lengths_spare_the_slow_instance(policy: str, pool: Driven) -> None:
    with steered(pool, policy):
        by = Counter(row["by"] for row in pool.rows([rows(300)]))
    assert by[f"act-{SLOW}"] < 300 / INSTANCES / 2


# ---- signals ------------------------------------------------------------------------------


def test_while_signals_rule_every_row_still_comes_once(chain: Driven) -> None:
    with steered(chain, tau_ms=10):
        assert once_each(chain, 300)


def test_of_siblings_that_wait_the_one_with_the_largest_backlog_may_send(pool: Driven) -> None:
    with steered(pool, tau_ms=10) as page:
        waiting = [page.instance(one, InstanceWord.PARKED) for one in range(INSTANCES)]
        signals = [page.instance(one, InstanceWord.SIGNAL) for one in range(INSTANCES)]

        def told(backlogs: list[int], expected: list[int]) -> Callable[[], bool]:
            def looks() -> bool:
                # Idle instances write their own backlog only when they have one.
                for at, backlog in zip(waiting, backlogs, strict=True):
                    page.words[at] = backlog
                return [page.words[at] for at in signals] == expected

            return looks

        until(told([1, 5, 2], [0, 1, 0]), PATIENCE_S)
        until(told([3, 0, 9], [0, 0, 1]), PATIENCE_S)
        until(told([0, 0, 0], [1, 1, 1]), PATIENCE_S)


def test_senders_go_on_if_nobody_sets_signals_any_more(pool: Driven) -> None:
    with steered(pool, tau_ms=10) as page:
        assert once_each(pool, 30)
        supervisor = pool.supervisor().pid
        os.kill(supervisor, signal.SIGSTOP)
        try:
            for one in range(INSTANCES):
                page.words[page.instance(one, InstanceWord.SIGNAL)] = 0
            assert once_each(pool, 30)
        finally:
            os.kill(supervisor, signal.SIGCONT)


def test_a_supervisor_that_was_stopped_goes_on_with_its_pool(pool: Driven) -> None:
    supervisor = pool.supervisor()
    for _ in range(5):
        os.kill(supervisor.pid, signal.SIGSTOP)
        # Its wait for signals has to run out meanwhile.
        time.sleep(2 * TICK_S)
        os.kill(supervisor.pid, signal.SIGCONT)
    assert once_each(pool, 30)
    with pool.page() as page:
        beat = page.words[HeaderWord.BEAT]
        until(lambda: page.words[HeaderWord.BEAT] > beat, PATIENCE_S)
    assert pool.supervisor() == supervisor
