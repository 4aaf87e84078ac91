"""Where Spark's own speculation would do as well, by its rule replayed on the job's tasks."""

import pytest

from techniques.options import checked
from techniques.task_copies.controller import DEFAULTS, conditions
from techniques.task_copies.seen import seen
from techniques.task_copies.sparks_own import LINE, Saved, replayed
from techniques.task_copies.technique import TECHNIQUE
from tests.techniques.task_copies.views import Row, batches, overtaken, view

TASKS, BATCHES = 10, 30


def hanging(ms: float, at_once: int = 1, every: int = 4, **traits: bool) -> list[Row]:
    """A batch a second; in every fourth so many of its ten tasks take so long, all others 100."""
    durations = [
        ms if batch % every == 1 and task < at_once else 100.0
        for batch in range(BATCHES)
        for task in range(TASKS)
    ]
    return batches(durations, tasks=TASKS, **traits)


def saved(rows: list[Row]) -> Saved:
    return replayed(seen(view(rows), DEFAULTS))


def test_a_task_that_hangs_alone_is_found_by_sparks_rule_soon_after_ours() -> None:
    found = saved(hanging(6_000))

    # Ours copies it after 120 ms; Spark after three medians, at its next look.
    assert found.late == 8
    assert found.ours_ms == pytest.approx(8 * (6_000 - 120 - 100))
    assert found.sparks_ms == pytest.approx(8 * (6_000 - 400 - 100))


def test_where_several_hang_at_once_spark_waits_for_all_but_one_of_them() -> None:
    found = saved(hanging(6_000, at_once=2))

    assert found.late == 16
    assert found.ratio == 0.0


def test_tasks_that_were_overtaken_say_nothing_of_how_long_they_would_have_taken() -> None:
    rows = hanging(6_000)
    slow = [row for row in rows if row.end_ms - row.start_ms > 500]
    copied = [each for row in slow for each in overtaken(row, after_ms=120, copy_ms=100)]

    assert saved([*(row for row in rows if row not in slow), *copied]).late == 0


def test_the_settings_are_advised_where_they_do_as_well_with_what_they_cost() -> None:
    found = conditions(view(hanging(6_000)))

    assert found.hold
    assert found.first is not None
    assert found.first.line == LINE
    assert LINE.startswith("--conf spark.speculation=true --conf ")
    assert "8 late tasks of the last 30 s, its rule would have saved 95% of" in found.first.why
    assert "no budget" in found.first.price


@pytest.mark.parametrize(
    "rows",
    [
        hanging(900),  # three medians are a third of it
        hanging(6_000, at_once=2),
        hanging(6_000, every=20),  # too few to tell
        hanging(6_000) + batches([10.0] * 300, kind=1, stateful=True),
    ],
)
def test_elsewhere_they_are_not(rows: list[Row]) -> None:
    found = conditions(view(rows))

    assert found.hold
    assert found.first is None


def test_where_the_sink_must_not_be_written_twice_they_are_not() -> None:
    rows = hanging(6_000) + batches([10.0] * 300, kind=1, result=True)

    assert conditions(view(rows)).first is not None
    assert conditions(view(rows, sink="ForeachBatchSink")).first is None


def test_the_replay_is_of_the_period_that_the_timeouts_come_from() -> None:
    longer = checked(TECHNIQUE.options, {"period": 60.0})

    assert replayed(seen(view(hanging(6_000), seconds=60), longer)).late == 8
