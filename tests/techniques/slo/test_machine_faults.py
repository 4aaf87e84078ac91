"""What goes wrong around the state machine: data that is missing, jobs that go, orders that are not
carried out, a worker that dies."""

import json

import pytest

from techniques.slo.memory import Kind, Memory, Why
from techniques.slo.states import State
from tests.techniques.slo.clusters import CROWDED, Cluster, Model, fine, short_of


def test_without_data_nothing_is_done_and_when_it_is_back_five_minutes_are_collected() -> None:
    cluster = Cluster({"a": short_of(40), "b": short_of(40)}).run(8)
    done = len(cluster.actions)
    cluster.jobs["b"].is_missing = True
    cluster.run(4)
    assert cluster.is_in(State.BLIND)
    cluster.run(30)
    assert len(cluster.actions) == done

    cluster.jobs["b"].is_missing = False
    cluster.round()
    assert cluster.is_in(State.COLLECTING)
    cluster.run(29)
    assert len(cluster.actions) == done
    cluster.run(1)
    assert len(cluster.actions) == done + 1


def test_the_action_before_the_failure_is_not_judged_by_what_came_after() -> None:
    cluster = Cluster({"a": short_of(40), "b": short_of(40)}).run(2)
    for job in cluster.jobs.values():
        job.is_missing = True
    cluster.run(36)
    for job in cluster.jobs.values():
        job.is_missing = False
    cluster.jobs["b"].best = 0.01
    cluster.until(State.COLLECTING).until(State.SETTLING)

    assert cluster.kinds == [Kind.RECONFIGURATION] * 2
    assert not cluster.memory.blacklist


def test_data_that_is_missing_for_a_moment_only_delays() -> None:
    cluster = Cluster({"a": short_of(40)})
    cluster.jobs["a"].is_missing = True
    cluster.run(1)
    cluster.jobs["a"].is_missing = False
    cluster.run(1)
    assert len(cluster.actions) == 1
    cluster.jobs["a"].is_missing = True
    cluster.run(2)
    cluster.jobs["a"].is_missing = False
    cluster.until(State.NOT_CONVERGED, most=6)


def test_data_that_goes_again_while_it_is_collected_starts_the_five_minutes_anew() -> None:
    cluster = Cluster({"a": short_of(40)}).run(1)
    for _ in range(2):
        cluster.jobs["a"].is_missing = True
        cluster.until(State.BLIND)
        cluster.jobs["a"].is_missing = False
        cluster.run(20)
        assert cluster.is_in(State.COLLECTING)
    cluster.run(10)
    assert cluster.is_in(State.COLLECTING)
    cluster.run(1)
    assert cluster.is_in(State.SETTLING)


def test_a_job_that_vanishes_in_mid_action_is_forgotten_with_all_that_was_asked_of_it() -> None:
    cluster = Cluster({"a": short_of(40, 90), "b": short_of(40)}).run(2)
    assert list(cluster.actions[0].asked) == ["a"]
    del cluster.jobs["a"]
    cluster.run(3)
    assert len(cluster.actions) == 1, "it may only be late"
    cluster.until(State.SETTLING)

    assert list(cluster.actions[1].asked) == ["b"]
    assert "a" not in cluster.memory.wishes
    assert State.COLLECTING not in {entry.what for entry in cluster.memory.log}


def test_when_one_job_is_gone_and_the_data_of_another_is_back_that_is_collected_first() -> None:
    cluster = Cluster({"a": short_of(40), "b": short_of(40)}).run(1)
    cluster.jobs["b"].is_missing = True
    del cluster.jobs["a"]
    cluster.run(4)
    cluster.jobs["b"].is_missing = False
    cluster.run(4)

    assert cluster.is_in(State.COLLECTING)


def test_a_job_that_joins_is_another_workload() -> None:
    cluster = Cluster({"a": fine()}).until(State.CONVERGED)
    cluster.jobs["b"] = short_of(20)
    cluster.until(State.CONVERGED)

    assert cluster.jobs["b"].share == 1.0
    assert any(entry.says == "b joined" for entry in cluster.memory.log)


def test_a_job_that_joins_without_data_holds_up_nobody() -> None:
    cluster = Cluster({"a": short_of(20), "new": short_of(20, is_missing=True)})
    cluster.until(State.CONVERGED)

    assert {name for each in cluster.actions for name in each.asked} == {"a"}


def test_another_slo_is_another_workload() -> None:
    cluster = Cluster({"a": fine(), "b": fine()}).until(State.CONVERGED)
    cluster.jobs["b"].max_utility = 50.0
    cluster.run(1)

    assert cluster.is_in(State.WATCHING)
    assert cluster.memory.log[-1].says == "b has another SLO"


def test_of_a_job_whose_slo_was_taken_away_nothing_is_asked_any_more() -> None:
    cluster = Cluster({"a": short_of(20), "b": short_of(20)}).until(State.CONVERGED)
    assert set(cluster.memory.wishes) == {"a", "b"}
    cluster.jobs["b"].max_utility = None
    cluster.run(1)

    assert set(cluster.memory.wishes) == {"a"}


def test_when_the_last_job_with_an_slo_is_gone_the_machine_starts_anew() -> None:
    cluster = Cluster({"a": short_of(20)}).until(State.CONVERGED)
    del cluster.jobs["a"]
    cluster.until(State.STARTING)
    cluster.jobs["a"] = short_of(20)

    assert cluster.until(State.CONVERGED).jobs["a"].share == 1.0


def refusing(*jobs: str) -> Cluster:
    """Of these jobs nothing can be changed."""
    return Cluster(
        {
            "a": short_of(20, 90, refused="no such pool" if "a" in jobs else ""),
            "b": short_of(20, 80, refused="no such pool" if "b" in jobs else ""),
        },
        carries_out=lambda job, operator, to: None if job in jobs else to,
    )


def test_an_action_that_a_job_refuses_is_taken_back_and_others_are_served() -> None:
    cluster = refusing("a").until(State.CONVERGED)

    assert [(each.kind, each.asked) for each in cluster.actions] == [
        (Kind.RECONFIGURATION, {"a": {"score": 22}}),
        (Kind.REVERSION, {"a": {"score": 2}}),
        (Kind.RECONFIGURATION, {"b": {"score": 22}}),
    ]
    assert cluster.memory.blacklist["a"].why is Why.FAILED
    assert any("refused: no such pool" in entry.says for entry in cluster.memory.log)


def test_a_realizer_that_lies_is_found_out_when_its_action_is_judged() -> None:
    cluster = refusing("a")
    cluster.jobs["a"].refused = ""
    cluster.until(State.CONVERGED)

    assert cluster.kinds == [Kind.RECONFIGURATION, Kind.REVERSION, Kind.RECONFIGURATION]
    assert any("score has 2 instead of 22" in entry.says for entry in cluster.memory.log)


def test_a_job_that_goes_on_refusing_is_asked_once_an_hour() -> None:
    cluster = refusing("a", "b").run(6 * 60 * 3)

    assert len(cluster.actions) <= 2 * 2 * 4


def test_a_taking_back_that_fails_is_not_taken_back_in_turn() -> None:
    """The lever sets another number than it is asked for, whatever that is."""
    cluster = Cluster({"a": short_of(20)}, carries_out=lambda job, operator, to: to + 1)
    cluster.until(State.CONVERGED)

    assert cluster.kinds == [Kind.RECONFIGURATION, Kind.REVERSION]
    assert sum("reversion failed" in entry.what for entry in cluster.memory.log) == 1


def test_a_reversion_that_fails_is_recorded_and_the_cluster_rests() -> None:
    cluster = Cluster(
        {"a": short_of(40, 90), "b": short_of(40)},
        carries_out=lambda job, operator, to: to if to > 2 else None,
        penalty=lambda c, job: 0.1 if c.jobs["a"].has["score"] > 2 and job == "b" else 1.0,
    )
    cluster.jobs["a"].best = 0.05
    cluster.until(State.CONVERGED).run(20)

    assert cluster.kinds == [Kind.RECONFIGURATION, Kind.REVERSION]
    assert cluster.is_in(State.CONVERGED)
    assert cluster.memory.pending is None
    assert "reversion failed" in [entry.what for entry in cluster.memory.log]


def test_of_a_reduction_only_what_was_not_carried_out_is_taken_back() -> None:
    cluster = Cluster(
        {"a": short_of(20, 90), "fat": fine(has=40), "stubborn": fine(has=40)},
        size=84,
        machines=CROWDED,
        carries_out=lambda job, operator, to: None if job == "stubborn" else to,
    )
    cluster.until(State.CONVERGED)

    assert [(each.kind, set(each.asked)) for each in cluster.actions] == [
        (Kind.REDUCTION, {"fat", "stubborn"}),
        (Kind.REVERSION, {"stubborn"}),
        (Kind.RECONFIGURATION, {"a"}),
        (Kind.RECONFIGURATION, {"fat"}),
    ]


def test_a_worker_that_dies_leaves_the_machine_where_it_was() -> None:
    def jobs() -> dict[str, Model]:
        return {"a": short_of(90, 90), "b": short_of(50, best=0.4), "c": fine()}

    one, other = Cluster(jobs()), Cluster(jobs())
    for _ in range(120):
        one.round()
        other.round()
        other.memory = Memory.of(json.loads(json.dumps(other.memory.as_data())))

    assert other.actions == one.actions
    assert other.memory == one.memory


@pytest.mark.parametrize(
    "data", [{}, {"state": "melted"}, {"pending": 3}, {"jobs": None}, {"state": "converged"}]
)
def test_a_memory_of_another_version_is_an_empty_one(data: dict[str, object]) -> None:
    whole = Memory().as_data()

    assert Memory.of(data) == Memory()
    assert Memory.of({**whole, **data, "colour": "red"}) == Memory()


def test_time_that_goes_by_is_no_change_of_the_memory() -> None:
    cluster = Cluster({"a": fine()}).until(State.CONVERGED)
    before = cluster.memory
    cluster.run(50)

    assert cluster.memory != before
    assert cluster.memory.same_as(before)


def test_a_clock_that_was_ahead_does_not_stop_the_machine() -> None:
    cluster = Cluster({"a": short_of(20)}).run(2)
    cluster.now_ms -= 86_400_000

    assert cluster.until(State.CONVERGED, most=30).jobs["a"].share == 1.0
