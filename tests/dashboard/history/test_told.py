import pickle

from dashboard.history.told import Told

ONE = Told(jobs=2, entries=10, bytes=1_500_000, lost_windows={"a": 3}, failures={"b": "no\nstream"})


def test_groups_of_jobs_add_up() -> None:
    both = ONE + Told(jobs=1, entries=5, unreadable=1, lost_windows={"a": 1, "c": 2}, overtaken=1)
    assert (both.jobs, both.entries, both.unreadable, both.overtaken) == (3, 15, 1, 1)
    assert both.lost_windows == {"a": 4, "c": 2}
    assert both.failures == ONE.failures


def test_a_full_disk_that_every_group_met_is_told_once_and_first() -> None:
    full = Told(stopped="the archive is unavailable: no space")
    assert (full + full).line().startswith("the archive is unavailable: no space; archived")
    assert not (ONE + full).well


def test_the_line_is_one_line_and_says_what_failed_and_what_was_lost() -> None:
    assert ONE.line() == (
        "b: no stream; archived 10 entries of 2 jobs in 1.5 MB; "
        "3 windows of 1 jobs were lost before they could be archived"
    )


def test_it_comes_back_from_executors() -> None:
    assert pickle.loads(pickle.dumps(ONE)) == ONE
