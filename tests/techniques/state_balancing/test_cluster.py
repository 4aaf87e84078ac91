"""What is read off the tasks: stages, executors, their speeds, and where partitions are."""

from dataclasses import replace

import numpy as np
import pytest

from techniques.state_balancing.cluster import changes, cluster, places, present
from techniques.state_balancing.stages import stages, stateful
from techniques.view import Executor, View
from tests.techniques.state_balancing.views import START_MS, Task, executors, view


def seconds(number: int, *tasks: tuple[int, str, float], **about: int | bool) -> list[Task]:
    """A stage a second of these tasks: partition, executor and duration."""
    kind = int(about.get("kind", 1))
    return [
        Task(
            kind * 100 + stage,
            partition,
            executor,
            stage * 1_000 + kind,
            lasts_ms,
            kind=kind,
            stateful=bool(about.get("stateful", True)),
        )
        for stage in range(number)
        for partition, executor, lasts_ms in tasks
    ]


def slowness(of: View) -> dict[str, float]:
    return {name: node.slowness for name, node in cluster(of, 0).nodes.items()}


def test_a_stage_whose_tasks_have_not_all_ended_does_not_count_yet() -> None:
    of = view(seconds(3, (0, "1", 100), (1, "2", 100))[:-1])

    assert [stage.whole for stage in stages(of)] == [True, True, False]
    assert len(stateful(of)) == 2


def test_a_kind_that_only_some_batches_have_is_left_out() -> None:
    of = view(seconds(10, (0, "1", 100)) + seconds(2, (0, "1", 100), kind=2))

    assert {stage.kind for stage in stateful(of)} == {1}


def test_of_a_task_and_its_copy_the_first_to_end_counts() -> None:
    copied = [Task(1, 0, "1", 0, 900), Task(1, 0, "2", 300, 100, waited_ms=300, speculative=True)]
    (stage,) = stages(view(copied))

    (task,) = stage.tasks
    assert (task.executor, task.duration_ms, task.sojourn_ms) == ("2", 100, 400)


def test_a_wait_that_is_not_known_is_that_since_the_first_launch() -> None:
    of = view([Task(1, 0, "1", 0, 100, np.nan), Task(1, 1, "1", 100, 100, np.nan)])

    assert [task.sojourn_ms for task in stages(of)[0].tasks] == [100, 200]


def test_executors_are_those_that_still_run_tasks() -> None:
    told = [
        Executor("driver", "host-0"),
        Executor("1", "host-1", left_ms=START_MS + 5),
        Executor("2", "host-2"),
        Executor("1", "host-1", joined_ms=START_MS + 9),
        Executor("3", "host-3", left_ms=START_MS + 5),
    ]

    assert sorted(each.id for each in present(view([], told))) == ["1", "2"]
    assert [each.id for each in present(view(seconds(2, (0, "7", 1), (1, "driver", 1))))] == ["7"]


def test_partitions_are_where_their_last_task_ran() -> None:
    moved = seconds(4, (0, "1", 100), (1, "2", 100))
    moved += [Task(9, 0, "2", 9_000, 100), Task(9, 1, "2", 9_000, 100)]
    of = view(moved, executors("1", "2"))

    assert places(of) == {0: "2", 1: "2"}
    assert (changes(of)[0].source, changes(of)[0].target) == ("1", "2")
    assert set(changes(of)) == {0}


def test_slowness_is_by_duration_and_not_by_waiting() -> None:
    waiting = [replace(each, waited_ms=500.0) for each in seconds(6, (2, "2", 100), (3, "2", 100))]
    of = view(seconds(6, (0, "1", 100), (1, "1", 100)) + waiting, executors("1", "2"))

    assert slowness(of) == {"1": 1.0, "2": 1.0}


def test_a_slow_executor_is_slow_and_a_heavy_partition_makes_none_so() -> None:
    fast = [(partition, "1", 100.0) for partition in range(4)]
    slow = [(partition, "2", 200.0) for partition in range(4, 8)]
    heavy = [(partition, "2", 900.0 if partition == 7 else 100.0) for partition in range(6, 8)]
    found = slowness(view(seconds(8, *fast, *slow), executors("1", "2")))

    assert found["2"] / found["1"] == pytest.approx(2.0)
    assert set(slowness(view(seconds(8, *fast, *heavy), executors("1", "2"))).values()) == {1.0}


def test_an_executor_without_state_is_measured_by_its_other_tasks() -> None:
    state = seconds(8, *((p, "12"[p % 2], 100.0) for p in range(8)))
    other = seconds(
        8,
        *((p, "123"[p % 3], 30.0 if p % 3 == 2 else 10.0) for p in range(9)),
        kind=0,
        stateful=False,
    )
    found = slowness(view(state + other, executors("1", "2", "3")))

    assert found["3"] / found["1"] == pytest.approx(3.0)
    # With no task at all it is taken for as fast as the others.
    assert slowness(view(state, executors("1", "2", "3")))["3"] == 1.0


def test_cores_that_are_not_told_are_those_that_were_busy_at_once() -> None:
    at_once = [Task(1, p, "1", 0, 100) for p in range(3)] + [Task(1, 3, "1", 100, 50, 100)]
    nodes = cluster(view(at_once, executors("1", "2", cores=None)), 0).nodes

    assert (nodes["1"].cores, nodes["2"].cores) == (3, 1)
    assert cluster(view(at_once, executors("1", cores=8)), 0).nodes["1"].cores == 8
