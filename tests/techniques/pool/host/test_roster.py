"""Who is started and who leaves, without a process: the test says who has noted the roster."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from techniques.pool.host.roster import Roster
from techniques.pool.on_spark import made
from techniques.pool.page import DEAD, FINISHES, LEAVES, READY, SERVES, Page
from techniques.pool.page_words import InstanceWord, OperatorWord, SlotWord
from tests.techniques.pool import operators

# Two operators: instances 0 to 3, of which two are there, and 4 to 5, of which one is.
ROOM, BEGUN_WITH = [4, 2], [2, 1]


class Pool:
    """What a supervisor would do with the answers of its roster."""

    def __init__(self, path: Path) -> None:
        plan = made(
            [operators.act, operators.add_one], instances=BEGUN_WITH, most=ROOM, name="roster"
        )
        self.page = Page.create(str(path), plan, ring_bytes=4096)
        self.roster = Roster(self.page)
        self.there: set[int] = set()

    def look(self) -> list[int]:
        started = self.roster.look(self.there)
        assert self.there.isdisjoint(started)
        self.there |= set(started)
        for one in started:
            self.page.words[self.page.instance(one)] = READY
        return started

    def gone(self, number: int) -> None:
        self.there.remove(number)
        self.page.words[self.page.instance(number)] = DEAD

    def note(self) -> None:
        """All instances that are there, and the one task, note the roster."""
        for one in self.there:
            self.page.words[self.page.instance(one, InstanceWord.ROSTER_SEEN)] = self.page.roster
        self.page.words[self.page.slot(0, SlotWord.ROSTER_SEEN)] = self.page.roster

    def reached(self, position: int) -> int:
        return self.page.words[self.page.of_operator(position, OperatorWord.REACHED)]

    def service(self) -> list[int]:
        at = [self.page.instance(one, InstanceWord.SERVICE) for one in range(self.page.instances)]
        return [self.page.words[one] for one in at]


@pytest.fixture
def pool(tmp_path: Path) -> Iterator[Pool]:
    pool = Pool(tmp_path / "page")
    # A task that is at work.
    pool.page.words[pool.page.slot(0, SlotWord.PID)] = 1
    pool.page.words[pool.page.slot(0, SlotWord.CHUNKS)] = 1
    yield pool
    pool.page.close()


def test_at_first_each_operator_has_what_its_plan_says(pool: Pool) -> None:
    assert pool.look() == [0, 1, 4]
    assert pool.look() == []
    assert pool.page.ready(0) == [0, 1]
    assert pool.page.ready(1) == [4]
    assert pool.page.serving == 3


def test_what_is_wanted_is_started_from_the_lowest_number_on(pool: Pool) -> None:
    pool.look()
    pool.page.resize(0, 4)
    assert pool.look() == [2, 3]
    assert pool.page.ready(0) == [0, 1, 2, 3]
    assert (pool.reached(0), pool.reached(1)) == (4, 1)


def test_one_that_leaves_is_not_chosen_and_finishes_when_all_have_noted_it(pool: Pool) -> None:
    pool.look()
    pool.note()
    pool.page.resize(0, 1)
    assert pool.look() == []
    assert pool.page.ready(0) == [0]
    assert (pool.service()[1], pool.reached(0)) == (LEAVES, 2)

    pool.look()
    assert pool.service()[1] == LEAVES, "a task may have chosen it just now"
    pool.note()
    pool.look()
    assert (pool.service()[1], pool.reached(0)) == (FINISHES, 1)


def test_one_that_leaves_may_be_called_back_and_is_not_started_twice(pool: Pool) -> None:
    pool.look()
    pool.page.resize(0, 1)
    pool.look()
    pool.page.resize(0, 2)
    assert pool.look() == []
    assert pool.page.ready(0) == [0, 1]
    pool.note()
    assert pool.look() == []
    assert pool.service()[1] == SERVES


def test_one_that_finishes_is_started_anew_once_it_is_gone(pool: Pool) -> None:
    pool.look()
    pool.page.resize(0, 1)
    pool.look()
    pool.note()
    pool.look()
    pool.page.resize(0, 2)
    assert pool.look() == []
    assert (pool.service()[1], pool.reached(0)) == (FINISHES, 1)
    pool.gone(1)
    assert pool.look() == [1]
    assert (pool.service()[1], pool.reached(0)) == (SERVES, 2)


@pytest.mark.parametrize("wanted", [0, 5, 2**63])
def test_a_number_that_makes_no_sense_is_taken_for_the_nearest_that_does(
    pool: Pool, wanted: int
) -> None:
    pool.look()
    pool.page.words[pool.page.of_operator(0, OperatorWord.WANTED)] = wanted
    pool.note()
    pool.look()
    pool.note()
    pool.look()
    assert pool.reached(0) == (1 if wanted == 0 else 4)
    with pytest.raises(ValueError, match="act may have 1 to 4 instances, not"):
        pool.page.resize(0, wanted)


@pytest.mark.parametrize("seed", range(20))
def test_nobody_finishes_before_all_know_and_nobody_serves_without_a_process(
    pool: Pool, seed: int
) -> None:
    chance = random.Random(seed)
    for _ in range(200):
        pool.page.resize(0, chance.randint(1, 4))
        pool.page.resize(1, chance.randint(1, 2))
        before, all_knew = pool.service(), pool.page.roster_seen_by_all(pool.page.roster)
        started = pool.look()
        now = pool.service()
        for one in range(6):
            if before[one] == SERVES:
                assert now[one] != FINISHES, "it was chosen a moment ago"
            if before[one] == LEAVES and now[one] == FINISHES and not all_knew:
                assert one in pool.there
                assert pool.page.roster_seen_by_all(pool.page.roster - 1), "of an earlier roster"
            if now[one] == SERVES:
                assert one in pool.there
        assert all(now[one] == SERVES for one in started)
        if chance.random() < 0.5:
            pool.note()
        for one in sorted(pool.there):
            died = chance.random() < 0.05
            if died or (now[one] == FINISHES and chance.random() < 0.5):
                pool.gone(one)
    pool.page.resize(0, 3)
    pool.page.resize(1, 2)
    for _ in range(3):
        for one in [one for one in sorted(pool.there) if pool.service()[one] == FINISHES]:
            pool.gone(one)
        pool.note()
        pool.look()
    assert pool.service() == [SERVES] * 3 + [FINISHES] + [SERVES] * 2
    assert [pool.reached(0), pool.reached(1)] == [3, 2]
