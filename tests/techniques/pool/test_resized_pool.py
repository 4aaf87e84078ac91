"""Instances that come and go while chunks flow: every row once, whatever dies or is switched."""

import itertools
import os
import random
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from techniques.pool.host.identity import Process
from techniques.pool.page import DEAD, FINISHES, LEAVES, READY, SERVES, Page
from techniques.pool.page_words import HeaderWord, InstanceWord, OperatorWord, SlotWord
from techniques.pool.policies import POLICIES
from techniques.pool.settings import Replay
from tests.techniques.pool import operators
from tests.techniques.pool.operators import rows
from tests.techniques.pool.running import PATIENCE_S, Driven, driven
from tests.waiting import until

MOST = 4


@pytest.fixture(scope="module")
def pool() -> Iterator[Driven]:
    with driven(operators.act, instances=2, most=MOST, chunk_rows=1, name="resized") as started:
        started.rows([rows(10)])
        yield started


@pytest.fixture(scope="module")
def chain() -> Iterator[Driven]:
    with driven(
        [operators.act, operators.add_one],
        instances=[2, 1],
        most=[3, 3],
        chunk_rows=2,
        window=32,
        name="resized-chain",
    ) as started:
        started.rows([rows(10)])
        yield started


def resized(pool: Driven, instances: int) -> None:
    """Until they are there, and no others."""
    pool.running.resize("act", instances)
    with pool.page() as page:
        until(lambda: there(page) == list(range(instances)), PATIENCE_S)


def there(page: Page) -> list[int]:
    return [one for one in page.operator(0) if page.words[page.instance(one)] != DEAD]


def word(page: Page, number: int, place: int) -> int:
    return page.words[page.instance(number, place)]


def total(page: Page, place: int) -> int:
    return sum(page.words[page.slot(slot, place)] for slot in range(page.slots))


def once_each(found: list[dict[str, Any]], count: int) -> bool:
    return sorted(row["id"] for row in found) == list(range(count))


@contextmanager
def meanwhile(*doing: Callable[[threading.Event], None]) -> Iterator[None]:
    stop = threading.Event()
    threads = [threading.Thread(target=each, args=(stop,)) for each in doing]
    for each in threads:
        each.start()
    try:
        yield
    finally:
        stop.set()
        for each in threads:
            each.join()


def keep_resizing(pool: Driven, **rooms: int) -> Callable[[threading.Event], None]:
    def resize(stop: threading.Event) -> None:
        running = pool.running
        while not stop.wait(random.uniform(0.02, 0.1)):
            for operator, most in rooms.items():
                running.resize(operator, random.randint(1, most))

    return resize


def keep_killing(pool: Driven) -> Callable[[threading.Event], None]:
    """Any instance, in whatever step it is."""

    def kill(stop: threading.Event) -> None:
        with pool.page() as page:
            for number in itertools.cycle(range(page.instances)):
                if stop.wait(0.15):
                    return
                pid = word(page, number, InstanceWord.PID)
                if word(page, number, InstanceWord.STATE) == READY:
                    os.kill(pid, signal.SIGKILL)

    return kill


def keep_switching(pool: Driven) -> Callable[[threading.Event], None]:
    def switch(stop: threading.Event) -> None:
        running = pool.running
        for policy in itertools.cycle(POLICIES):
            if stop.wait(random.uniform(0.01, 0.1)):
                running.switch("round-robin")
                return
            running.switch(policy, replay=random.choice(list(Replay)), replay_budget=5000)

    return switch


@pytest.mark.parametrize("policy", POLICIES)
def test_rows_come_once_each_while_instances_come_and_go_under(policy: str, pool: Driven) -> None:
    pool.running.switch(policy)
    try:
        with meanwhile(keep_resizing(pool, act=MOST)):
            asked = dict.fromkeys(range(0, 400, 2), operators.SLEEP)
            assert once_each(pool.rows([rows(400, asked)]), 400)
    finally:
        pool.running.switch("round-robin")


def test_rows_come_once_each_through_a_chain_that_is_resized_switched_and_killed(
    chain: Driven,
) -> None:
    asked = dict.fromkeys(range(0, 800, 2), operators.SLEEP)
    with meanwhile(
        keep_resizing(chain, act=3, add_one=3), keep_killing(chain), keep_switching(chain)
    ):
        found = chain.rows([rows(800, asked)])
    assert once_each(found, 800)
    assert all(row["twice"] == 2 * row["id"] + 1 for row in found)


def test_instances_that_come_get_chunks_at_once_and_those_that_go_get_none(pool: Driven) -> None:
    resized(pool, MOST)
    with pool.page() as page:
        until(lambda: len(page.ready(0)) == MOST, PATIENCE_S)
    assert {row["by"] for row in pool.rows([rows(40)])} == {f"act-{one}" for one in range(MOST)}

    resized(pool, 1)
    assert {row["by"] for row in pool.rows([rows(40)])} == {"act-0"}


def test_a_task_has_two_chunks_for_each_instance_that_there_is(pool: Driven) -> None:
    for instances in (3, 1):
        resized(pool, instances)
        asked = dict.fromkeys(range(40), operators.SLEEP)
        with pool.page() as page:
            assert page.serving == instances
            most = 0
            for _ in pool.results([rows(40, asked)]):
                most = max(most, total(page, SlotWord.CHUNKS))
            # The last result is out before the next chunk is in.
            assert instances <= most <= 2 * instances


def test_one_that_is_retired_in_the_middle_of_a_chunk_finishes_it_and_is_no_death(
    pool: Driven, tmp_path: Path
) -> None:
    resized(pool, 2)
    note = tmp_path / "go on"
    with pool.page() as page:
        until(lambda: len(page.ready(0)) == 2, PATIENCE_S)
        replaced = page.words[HeaderWord.REPLACED]
        again, died = total(page, SlotWord.AGAIN), word(page, 1, InstanceWord.DIED)
        # Chunks 0 to 3 go to both in turn: each has one in work and one in its ring.
        results = pool.results([rows(4, dict.fromkeys(range(4), operators.AWAIT), str(note))])
        with collecting(results) as found:
            until(lambda: word(page, 1, InstanceWord.BUSY_SINCE), PATIENCE_S)
            until(lambda: word(page, 1, InstanceWord.QUEUED) == 1, PATIENCE_S)
            pool.running.resize("act", 1)
            until(lambda: word(page, 1, InstanceWord.SERVICE) == FINISHES, PATIENCE_S)
            note.touch()
        assert sorted(str(row["by"]) for row in found) == ["act-0", "act-0", "act-1", "act-1"]
        until(lambda: there(page) == [0], PATIENCE_S)
        assert total(page, SlotWord.AGAIN) == again
        assert (page.words[HeaderWord.REPLACED], word(page, 1, InstanceWord.DIED)) == (
            replaced,
            died,
        )


@contextmanager
def collecting(results: Iterator[object]) -> Iterator[list[dict[str, Any]]]:
    """In a thread of its own, to the end of the block at least."""
    found: list[dict[str, Any]] = []

    def collect() -> None:
        for batch in results:
            found.extend(batch.to_pylist())  # type: ignore[attr-defined]

    collector = threading.Thread(target=collect)
    collector.start()
    try:
        yield found
    finally:
        collector.join(PATIENCE_S)


def test_one_that_is_killed_while_it_finishes_loses_nothing(pool: Driven, tmp_path: Path) -> None:
    resized(pool, 2)
    note = tmp_path / "go on"
    with pool.page() as page:
        until(lambda: len(page.ready(0)) == 2, PATIENCE_S)
        replaced, again = page.words[HeaderWord.REPLACED], total(page, SlotWord.AGAIN)
        results = pool.results([rows(4, dict.fromkeys(range(4), operators.AWAIT), str(note))])
        with collecting(results) as found:
            until(lambda: word(page, 1, InstanceWord.BUSY_SINCE), PATIENCE_S)
            until(lambda: word(page, 1, InstanceWord.QUEUED) == 1, PATIENCE_S)
            pool.running.resize("act", 1)
            until(lambda: word(page, 1, InstanceWord.SERVICE) == FINISHES, PATIENCE_S)
            os.kill(word(page, 1, InstanceWord.PID), signal.SIGKILL)
            until(lambda: total(page, SlotWord.AGAIN) == again + 2, PATIENCE_S)
            note.touch()
        assert once_each(found, 4)
        assert {row["by"] for row in found} == {"act-0"}
        assert page.words[HeaderWord.REPLACED] == replaced, "nobody took its place"


def test_one_that_leaves_goes_on_if_it_is_wanted_again_before_all_know(pool: Driven) -> None:
    resized(pool, 3)
    with pool.page() as page:
        until(lambda: len(page.ready(0)) == 3, PATIENCE_S)
        pid, life = word(page, 2, InstanceWord.PID), page.incarnation(2)
        # One that is idle and stopped notes nothing.
        stopped = pool.pid_of(0)
        os.kill(stopped, signal.SIGSTOP)
        try:
            pool.running.resize("act", 2)
            until(lambda: word(page, 2, InstanceWord.SERVICE) == LEAVES, PATIENCE_S)
            assert page.words[page.of_operator(0, OperatorWord.REACHED)] == 3
            pool.running.resize("act", 3)
            until(lambda: word(page, 2, InstanceWord.SERVICE) == SERVES, PATIENCE_S)
        finally:
            os.kill(stopped, signal.SIGCONT)
        assert {row["by"] for row in pool.rows([rows(30)])} == {"act-0", "act-1", "act-2"}
        assert (word(page, 2, InstanceWord.PID), page.incarnation(2)) == (pid, life)


def test_what_a_retired_instance_had_is_gone(pool: Driven) -> None:
    resized(pool, 3)
    with pool.page() as page:
        until(lambda: len(page.ready(0)) == 3, PATIENCE_S)
        pid = Process.of(word(page, 2, InstanceWord.PID))
    assert pid is not None
    where = Path(pool.running.where)
    assert list(where.glob("in-2-*"))
    resized(pool, 2)
    until(lambda: not pid.lives(), PATIENCE_S)
    until(lambda: not list(where.glob("in-2-*")), PATIENCE_S)


def test_a_number_there_is_no_room_for_is_refused(pool: Driven) -> None:
    with pytest.raises(ValueError, match="act may have 1 to 4 instances, not 5"):
        pool.running.resize("act", 5)
    with pytest.raises(ValueError, match="no operator 'rank'; there are act"):
        pool.running.resize("rank", 1)
