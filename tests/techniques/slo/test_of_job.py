import numpy as np
import pytest

from techniques.slo import window
from techniques.slo.of_job import graph, juice_of
from tests.techniques.pool.views import One, pool
from tests.techniques.slo.views import chain, job


def test_a_job_that_reads_all_that_comes_has_all_its_juice() -> None:
    assert juice_of(job()) == 1.0
    assert juice_of(job(backlog=(5_000, 5_000))) == 1.0, "it is behind, and keeps up"
    assert juice_of(job(backlog=(50_000, 0))) == 1.0, "it catches up"


def test_a_backlog_that_grows_is_juice_that_is_missing() -> None:
    # A thousand rows a second are read, and 250 more come.
    assert juice_of(job(backlog=(0, 250 * 120))) == pytest.approx(0.8, rel=0.01)


def test_a_job_that_reads_nothing_of_what_comes_has_none() -> None:
    assert juice_of(job(records_per_s=0, backlog=(0, 1_000))) == 0.0


@pytest.mark.parametrize("seconds", [0, 5, 20])
def test_in_less_than_half_a_minute_nothing_is_told(seconds: int) -> None:
    assert juice_of(job(seconds=seconds)) is None


def test_without_offsets_that_count_rows_nothing_is_told() -> None:
    assert juice_of(job(backlog=None)) is None


def test_a_gap_in_the_frames_makes_it_unknown_until_it_is_out_of_sight() -> None:
    view = job()
    view.waiting_tasks[400:1_100] = np.nan

    assert not window.has_data(view)
    assert juice_of(view) is None


def test_a_short_gap_does_no_harm() -> None:
    view = job()
    view.waiting_tasks[400:700] = np.nan

    assert juice_of(view) == 1.0


def test_an_operator_of_a_pool_that_does_not_keep_up_costs_juice() -> None:
    made = pool([One(60, operator="score")], 120)

    assert juice_of(job(chain(made, {("", "score-0"): 100}))) == pytest.approx(0.6, rel=0.02)


def test_along_a_chain_what_every_operator_leaves_is_multiplied() -> None:
    made = pool([One(80, operator="parse"), One(40, operator="score")], 120)
    names = [each.name for each in made.instances]
    view = job(chain(made, {("", names[0]): 100, (names[0], names[1]): 80}))

    found = graph(view)
    assert found is not None
    assert {each.child for each in found.edges} == {"scores/parse", "scores/score"}
    assert juice_of(view) == pytest.approx(0.4, rel=0.02)


def test_a_shared_queue_has_no_pairs_and_counts_what_tasks_sent() -> None:
    assert juice_of(job(pool([One(100), One(100)], 120))) == pytest.approx(1.0, rel=0.02)


def test_pools_that_send_in_circles_are_half_a_picture() -> None:
    made = pool([One(operator="a"), One(operator="b")], 120)
    first, second = (each.name for each in made.instances)

    assert (
        juice_of(job(chain(made, {("", first): 9, (first, second): 9, (second, first): 9}))) is None
    )


def test_sub_windows_begin_at_whole_ten_seconds() -> None:
    view = job(seconds=47)
    view.records[:] = np.arange(len(view))
    first_ms = [view.at_ms(int(at)) for at in window.last(view, view.records)[:, 0]]

    assert all(at_ms % window.SUB_WINDOW_MS == 0 for at_ms in first_ms)
    assert len(first_ms) == 4
    assert window.sums(view, np.full(len(view), np.nan)).shape == (4,)
