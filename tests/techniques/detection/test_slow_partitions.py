"""Which partitions are slow wherever they are, and which only seem so."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from techniques.detection.slow_partitions import medians_of_others, slow_partitions
from tests.techniques.state_balancing.views import Task, view

PARTITIONS = 8


def rows(
    stages: int = 12,
    *,
    heavy: dict[int, float] | None = None,
    slow: dict[str, float] | None = None,
    moves_at: int | None = None,
    seed: int = 0,
    **about: bool,
) -> list[Task]:
    """A stage a second on two executors: tasks of about 100 ms, times the weight of the partition
    and of the executor. Partition 3 changes its executor at the stage `moves_at`."""
    random = np.random.default_rng(seed)
    made = []
    for stage in range(stages):
        for partition in range(PARTITIONS):
            moved = moves_at is not None and stage >= moves_at and partition == 3
            executor = str((partition + moved) % 2 + 1)
            times = (heavy or {}).get(partition, 1.0) * (slow or {}).get(executor, 1.0)
            lasts_ms = 100 * times * random.uniform(0.8, 1.2)
            made.append(Task(stage, partition, executor, stage * 1_000, lasts_ms, **about))
    return made


def test_a_heavy_partition_is_named_with_what_it_takes() -> None:
    (found,) = slow_partitions(view(rows(heavy={3: 3.0})))

    assert (found.kind, found.partition, found.executors) == (1, 3, ("2",))
    assert found.ratio == pytest.approx(3.0, rel=0.15)
    assert found.mean_ms == pytest.approx(300, rel=0.1)
    assert found.others_ms == pytest.approx(100, rel=0.1)
    assert found.tasks == 12
    assert 0 < found.p_value < 1e-3


def test_it_is_slow_on_every_executor_that_it_was_on() -> None:
    (found,) = slow_partitions(view(rows(heavy={3: 3.0}, moves_at=6)))

    assert found.executors == ("1", "2")


def test_a_slow_executor_makes_none_of_its_partitions_slow() -> None:
    assert slow_partitions(view(rows(slow={"2": 4.0}))) == ()


def test_a_partition_that_was_slow_on_one_executor_only_is_not_slow_wherever_it_is() -> None:
    made = [
        Task(row.stage, row.partition, row.executor, row.launched_ms, row.duration_ms * 3)
        if row.partition == 3 and row.executor == "2"
        else row
        for row in rows(moves_at=6)
    ]

    assert slow_partitions(view(made)) == ()


def one_after_the_other(first_takes: float) -> list[Task]:
    """Two partitions share a core of each executor: 0 and 1 run first, and 0 takes longer."""
    return [
        Task(
            row.stage,
            row.partition,
            row.executor,
            row.launched_ms + 500 * (row.partition // 2),
            row.duration_ms * (first_takes if row.partition == 0 else 1),
        )
        for row in rows()
    ]


def test_the_first_task_on_an_executor_reads_the_stages_code_too_and_must_be_slower_still() -> None:
    assert slow_partitions(view(one_after_the_other(3.0))) == ()

    (found,) = slow_partitions(view(one_after_the_other(5.0)))
    assert found.partition == 0


@pytest.mark.parametrize(
    "made",
    [
        [],
        rows(),
        # Heavier, but not by so much; too few tasks to say; nothing beside it to compare with.
        rows(heavy={3: 1.5}),
        rows(stages=2, heavy={3: 5.0}),
        [row for row in rows(heavy={3: 5.0}) if row.partition in (2, 3)],
        # Without state the number of a partition has no lasting meaning.
        rows(heavy={3: 5.0}, stateful=False),
        rows(heavy={3: 5.0}, successful=False),
    ],
)
def test_elsewhere_there_is_none(made: list[Task]) -> None:
    assert slow_partitions(view(made)) == ()


def test_equal_partitions_are_hardly_ever_slow() -> None:
    assert not any(slow_partitions(view(rows(seed=seed))) for seed in range(40))


def test_the_slowest_is_first() -> None:
    found = slow_partitions(view(rows(heavy={3: 3.0, 4: 6.0})))

    assert [each.partition for each in found] == [4, 3]


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.floats(0, 1e6)),
        min_size=1,
        max_size=20,
    )
)
def test_the_median_of_the_others_is_what_numpy_says(pairs: list[tuple[int, float]]) -> None:
    group, values = np.array([pair[0] for pair in pairs]), np.array([pair[1] for pair in pairs])
    found = medians_of_others(group, values)

    for at in range(len(values)):
        others = np.delete(values, at)[np.delete(group, at) == group[at]]
        expected = np.median(others) if len(others) else np.nan
        assert found[at] == pytest.approx(expected, nan_ok=True)
