"""What a block on a cluster measured, from made-up frames and tasks."""

from uuid import UUID

import pytest

from benchmarks.cluster_figures import Recorded, Stretch, moves
from collectors.formats.activity import Activity, Kind, TaskFacts
from collectors.formats.buckets import Histogram
from collectors.formats.wire import Batch, Frame

BATCH_MS = 1_000


def task(
    batch: int,
    executor: str,
    ms: float = 50,
    partition: int = 0,
    stateful: bool = True,
    speculative: bool = False,
    successful: bool = True,
) -> Activity:
    start_us = batch * BATCH_MS * 1000 + partition
    facts = TaskFacts(
        stage=batch, stateful=stateful, speculative=speculative, successful=successful
    )
    end_us = start_us + round(ms * 1000)
    return Activity(Kind.TASK, start_us, end_us, executor, partition=partition, task=facts)


def frame(batch: int, ms: int = 400, latency_ms: int = 900) -> Frame:
    done = Batch(batch, batch * BATCH_MS, ms, 10)
    committed = Histogram.of([latency_ms * 1000] * 10)
    return Frame(batch * 20, batch, UUID(int=1), batches=(done,), committed=committed)


def moved(tasks: list[Activity]) -> list[tuple[int, str, str]]:
    pairs = [(each, each.task) for each in tasks if each.task]
    return [(m.partition, m.from_executor, m.to_executor) for m in moves(pairs)]


def test_a_partition_whose_task_runs_elsewhere_has_moved() -> None:
    tasks = [task(0, "0"), task(0, "1", partition=1), task(1, "0"), task(1, "2", partition=1)]
    assert moved(tasks) == [(1, "1", "2")]


def test_tasks_without_state_do_not_move_by_running_elsewhere() -> None:
    assert moved([task(at, str(at % 3), stateful=False) for at in range(6)]) == []


def test_an_attempt_that_did_not_finish_is_no_move() -> None:
    lost = task(1, "2", speculative=True, successful=False)
    assert moved([task(0, "0"), task(1, "0"), lost, task(2, "0")]) == []


def test_a_move_costs_what_its_first_task_takes_more_than_the_next_ones_there() -> None:
    there = [
        task(1, "1", ms=550),
        *(task(at, "1", ms=ms) for at, ms in ((2, 40), (3, 60), (4, 50))),
    ]
    pairs = [(each, each.task) for each in (task(0, "0"), *there) if each.task]
    (move,) = moves(pairs)
    assert move.cost_ms == pytest.approx(500)
    assert move.at_ms == 1000


def test_what_a_move_cost_is_unknown_if_the_partition_moves_on_at_once() -> None:
    pairs = [(each, each.task) for each in (task(0, "0"), task(1, "1"), task(2, "2")) if each.task]
    assert [move.cost_ms for move in moves(pairs)] == [None, None]


def test_only_batches_of_the_stretch_count_but_moves_since_the_arm_began() -> None:
    frames = [frame(at, ms=2_000 if at < 4 else 400) for at in range(8)]
    tasks = [task(0, "0"), *(task(at, "1") for at in range(1, 8))]
    found = Recorded(frames, tasks).figures(Stretch(0, "balancing", 500, 4, 6))
    assert found is not None
    assert found.batch_ms == (400, 400, 400)
    assert found.latency.count == 30
    assert found.tasks == 3
    assert found.task_ms == pytest.approx(150)
    assert [move.to_executor for move in found.moves] == ["1"]
    assert found.settle_s == pytest.approx(0.5)


def test_moves_before_the_arm_began_are_those_that_put_partitions_back() -> None:
    tasks = [task(0, "0"), *(task(at, "1") for at in range(1, 4))]
    found = Recorded([frame(at) for at in range(4)], tasks).figures(Stretch(0, "off", 1_500, 2, 3))
    assert found is not None
    assert (found.moves, found.settle_s) == ((), None)


def test_copies_are_counted_apart_from_the_tasks_that_they_copy() -> None:
    tasks = [
        task(0, "0", ms=900, successful=False),
        task(0, "1", ms=100, speculative=True),
        task(0, "2", ms=60, partition=1),
        task(0, "0", ms=30, partition=1, speculative=True, successful=False),
    ]
    found = Recorded([frame(0, ms=1_000)], tasks).figures(Stretch(0, "speculation", 0, 0, 0))
    assert found is not None
    assert (found.tasks, found.copies, found.copies_won) == (2, 2, 1)
    assert found.task_ms == pytest.approx(960)
    assert found.copy_ms == pytest.approx(130)


def test_a_stretch_of_which_no_batch_is_known_has_no_figures() -> None:
    assert Recorded([frame(0)], []).figures(Stretch(0, "off", 0, 5, 9)) is None
