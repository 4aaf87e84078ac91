"""State moves between the executors of a real cluster, and nobody can tell from the results.

One job runs through all of it, one thing after another; in the end the output of its queries, batch
by batch, and their final state are compared with those of a run that nothing was done to.
"""

import json
import os
import random
import signal
from collections.abc import Iterator

import pytest

from collectors.formats.asked import State
from dashboard.cli import sessions
from dashboard.testing.cluster import Cluster
from dashboard.testing.stack import redis_server
from tests.cluster import moved_job as job
from tests.cluster.checks import HOSTS
from tests.cluster.moved_queries import QUERIES
from tests.cluster.moved_watch import PATIENCE_S, Places, Watched, untouched
from tests.waiting import until

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.spark,
    pytest.mark.quiet,
    pytest.mark.timeout(1200),
]

ROUNDS = 3
SHORT_MS = 2_000
SEED = 14


@pytest.fixture(scope="module")
def moved(three_hosts: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    out = tmp_path_factory.mktemp("moves") / "moved"
    out.mkdir()
    with redis_server() as redis:
        watched = Watched(three_hosts, redis, out)
        try:
            watched.run_on(2)
            yield watched
        finally:
            watched.running.end()


def ask_all(moved: Watched, places: Places) -> None:
    for name in QUERIES:
        moved.ask(name, places)


def until_all_run_on(moved: Watched, hosts: dict[int, str]) -> None:
    moved.until(lambda: all(moved.hosts(name) == hosts for name in QUERIES))


def all_are(moved: Watched, state: State) -> bool:
    answers = [moved.answer(name) for name in QUERIES]
    return all(answer is not None and answer.state == state for answer in answers)


def let_go(moved: Watched, name: str, switched_off: bool) -> bool:
    answer = moved.answer(name)
    if switched_off:
        return moved.is_settled(name) and answer is None
    return answer is not None and answer.state == State.LAPSED


def test_partitions_run_where_the_order_says(moved: Watched) -> None:
    executors = moved.executors()
    first, second, third = sorted(executors)
    for places in ({0: third, 1: third, 2: first}, {0: second, 1: first, 2: third}):
        ask_all(moved, places)
        moved.until(lambda: all_are(moved, State.APPLIED))
        until_all_run_on(moved, {partition: executors[to] for partition, to in places.items()})


def test_neither_off_nor_the_end_of_a_lease_moves_anything_back(moved: Watched) -> None:
    before = {name: moved.hosts(name) for name in QUERIES}
    executor_of = {host: executor for executor, host in moved.executors().items()}
    switched_off = list(QUERIES)[::2]
    for name, hosts in before.items():
        where = {partition: executor_of[host] for partition, host in hosts.items()}
        moved.ask(name, None if name in switched_off else where, lease_ms=SHORT_MS)
    moved.until(lambda: all(let_go(moved, name, name in switched_off) for name in QUERIES))
    moved.run_on(2)
    assert {name: moved.hosts(name) for name in QUERIES} == before


def test_a_partition_that_is_not_there_is_refused(moved: Watched) -> None:
    name = next(iter(QUERIES))
    moved.ask(name, {job.PARTITIONS: "0"})
    moved.until(lambda: (answer := moved.answer(name)) and answer.state == State.REFUSED)
    answer = moved.answer(name)
    assert answer is not None
    assert f"there is no state partition {job.PARTITIONS}" in answer.because


def test_the_job_runs_on_through_random_moves(moved: Watched) -> None:
    chance = random.Random(SEED)
    executors = moved.executors()
    for _ in range(ROUNDS):
        asked = {
            name: {each: chance.choice(sorted(executors)) for each in range(job.PARTITIONS)}
            for name in QUERIES
        }
        for name, places in asked.items():
            moved.ask(name, places)
        moved.run_on(chance.randint(1, 2))
    for name, places in asked.items():
        hosts = {partition: executors[to] for partition, to in places.items()}
        moved.until(lambda name=name, hosts=hosts: moved.hosts(name) == hosts)


@pytest.mark.parametrize("killed", ["the executor it goes to", "the executor it comes from"])
def test_an_executor_killed_in_the_middle_of_a_move_ends_nothing(
    moved: Watched, killed: str
) -> None:
    first, second, _ = sorted(moved.executors())
    ask_all(moved, dict.fromkeys(range(job.PARTITIONS), first))
    moved.until(lambda: all_are(moved, State.APPLIED))
    victim = moved.pid(second if "goes to" in killed else first)
    ask_all(moved, dict.fromkeys(range(job.PARTITIONS), second))
    moved.until(lambda: any(moved.is_settled(name) for name in QUERIES))
    os.kill(victim, signal.SIGKILL)
    moved.run_on(2)
    # A wish for an executor that is gone is no fault of the job's.
    moved.until(lambda: all_are(moved, State.APPLIED))


def test_executors_are_taken_away_and_given_back_while_the_queries_run(moved: Watched) -> None:
    ask_all(moved, dict.fromkeys(range(job.PARTITIONS), sorted(moved.executors())[-1]))
    moved.until(lambda: all_are(moved, State.APPLIED))
    for name in QUERIES:
        moved.ask(name, None)
    name = next(iter(QUERIES))
    for executors in (len(HOSTS) - 1, len(HOSTS)):
        moved.ask_for_executors(name, executors)
        moved.until(lambda executors=executors: len(moved.executors_now()) == executors)
        moved.until(lambda: (answer := moved.answer(name)) and answer.state == State.APPLIED)
        moved.run_on(1)

    moved.ask_for_executors(name, 100)
    moved.until(lambda: (answer := moved.answer(name)) and answer.state == State.REFUSED)
    answer = moved.answer(name)
    assert answer is not None
    assert f"at most {len(HOSTS) + 4} executors, not 100" in answer.because
    moved.ask(name, None)


def test_a_driver_that_is_killed_goes_on_from_its_checkpoint(moved: Watched) -> None:
    ask_all(moved, dict.fromkeys(range(job.PARTITIONS), sorted(moved.executors())[0]))
    moved.run_on(1)
    sessions.send(moved.running.pid, signal.SIGKILL)
    moved.running.end()
    until(lambda: not moved.has_executors(), PATIENCE_S)
    moved.start()
    moved.run_on(1)
    ask_all(moved, dict.fromkeys(range(job.PARTITIONS), sorted(moved.executors())[-1]))
    moved.until(lambda: all_are(moved, State.APPLIED))
    moved.run_on(2)


def test_output_and_state_are_those_of_an_untouched_run(moved: Watched) -> None:
    os.kill(moved.running.pid, signal.SIGTERM)
    assert moved.running.wait(PATIENCE_S) == 0, moved.running.said(60)
    out = moved.out.parent / "untouched"
    untouched(out, like=moved.out)
    for name in QUERIES:
        ours, theirs = job.put_out(moved.out, name), job.put_out(out, name)
        assert len(ours) > 2 * ROUNDS
        for batch, rows in ours.items():
            # Neither partitions nor hosts: the untouched run has one of each.
            assert contents(rows) == contents(theirs[batch]), (name, batch)
        states = [
            json.loads((out / f"{run.name}-{name}.state").read_text()) for run in (moved.out, out)
        ]
        assert states[0] == states[1], name
        assert all(states[0]), name


def contents(rows: list[list[object]]) -> list[str]:
    return sorted(str(row) for row, *_ in rows)
