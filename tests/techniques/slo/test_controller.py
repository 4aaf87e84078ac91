import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache

import pytest

from techniques.model import Decision, Mode, Options, Past
from techniques.options import checked
from techniques.slo.controller import conditions, decide_all
from techniques.slo.memory import Memory
from techniques.slo.picture import figure
from techniques.slo.states import State
from techniques.slo.technique import TECHNIQUE
from techniques.view import View
from tests.techniques.pool.views import One, pool
from tests.techniques.slo.views import chain, job, on_spark

EVERY_MS = 10_000


@cache
def pooled(instances: int, needs: int) -> View:
    """A job that is late until its operator has the instances that it needs."""
    busy = One(100, 9.0 if instances < needs else 2.0)
    made = pool([busy] * instances, 60)
    sent = {("", f"score-{at}"): 100 for at in range(instances)}
    late_ms = 100.0 * max(1.0, needs / instances)
    return job(chain(made, sent, 60), latency_ms=late_ms, seconds=60)


@dataclass
class Jobs:
    """Jobs of one cluster that carry out their decisions at once. What is stored between two looks
    is JSON, as in the database."""

    needs: dict[str, int]
    has: dict[str, int]
    size: int = 100
    mode: dict[str, Mode] = field(default_factory=dict)
    chosen: dict[str, object] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    decided: dict[str, Decision] = field(default_factory=dict)
    at_ms: int = 0

    def look(self) -> Mapping[str, Decision]:
        self.at_ms += EVERY_MS
        views = {
            name: _moved(pooled(self.has[name], needs), self.at_ms)
            for name, needs in self.needs.items()
        }
        options: Options = checked(TECHNIQUE.options, {"size": self.size, **self.chosen})
        past = {
            name: Past(
                self.mode.get(name, Mode.ACT),
                "run",
                self.decided.get(name),
                self.refused.get(name, ""),
            )
            for name in views
        }
        found = decide_all(views, dict.fromkeys(views, options), past)
        for name, decision in found.items():
            TECHNIQUE.settings.check(decision.settings)
            self.decided[name] = replace(
                decision,
                settings=json.loads(json.dumps(decision.settings)),
                memory=json.loads(json.dumps(decision.memory)),
            )
            if self.mode.get(name, Mode.ACT) is Mode.ACT and name not in self.refused:
                instances = decision.settings.get("instances", {})
                assert isinstance(instances, Mapping)
                self.has[name] = int(str(instances.get("score", self.has[name])))
        return found

    def until(self, state: State, most: int = 100) -> Memory:
        for _ in range(most):
            self.look()
            for each in self.decided.values():
                if each.memory and (memory := Memory.of(each.memory)).state is state:
                    return memory
        raise AssertionError(f"never {state}")


def _moved(view: View, by_ms: int) -> View:
    """The same windows later. What was sent moves with them."""
    pools = tuple(
        replace(each, sent=replace(each.sent, window_ms=each.sent.window_ms + by_ms))
        for each in view.pools
    )
    return replace(view, start_ms=view.start_ms + by_ms, pools=pools)


def test_a_job_that_misses_its_slo_gets_instances_of_its_congested_operator() -> None:
    jobs = Jobs(needs={"a": 12, "b": 3}, has={"a": 2, "b": 3})
    found = jobs.look()

    # Capacity 0.9 is two thresholds too much: 20 more.
    assert found["a"].settings == {"instances": {"score": 22}}
    assert "score 2 → 22 (capacity 0.90)" in found["a"].reason
    assert found["b"].settings == {}
    assert {each.name for each in found["a"].evidence} == {
        "utility",
        "latency",
        "capacity of pool:score",
    }


def test_the_cluster_converges_and_then_nothing_is_decided_any_more() -> None:
    jobs = Jobs(needs={"a": 5, "b": 4}, has={"a": 2, "b": 3})
    jobs.until(State.CONVERGED)

    assert jobs.has["a"] >= 5
    assert jobs.has["b"] >= 4
    assert not [found for found in (jobs.look() for _ in range(10)) if found]


def test_the_size_of_the_cluster_is_never_exceeded_and_without_one_nothing_is_given() -> None:
    small = Jobs(needs={"a": 12, "b": 9}, has={"a": 2, "b": 3}, size=9)
    small.until(State.CONVERGED)
    assert sum(small.has.values()) == 9

    unsized = Jobs(needs={"a": 12, "b": 9}, has={"a": 2, "b": 3}, size=0)
    unsized.until(State.CONVERGED)
    assert unsized.has == {"a": 2, "b": 3}


def test_ds2_sizes_by_what_arrives_in_one_step() -> None:
    jobs = Jobs(needs={"a": 4}, has={"a": 2}, chosen={"sizing": "ds2", "utilisation": 50.0})
    jobs.look()

    # 200 chunks a second of 9 ms are 1.8 instances that always work, 3.6 that work half the time.
    assert jobs.has["a"] == 4


def test_the_memory_is_kept_by_three_jobs_and_found_again_when_one_of_them_leaves() -> None:
    jobs = Jobs(
        needs=dict.fromkeys("abcd", 5),
        has=dict.fromkeys("abcd", 2),
        size=1_000,
        chosen={"settle_s": 10},
    )
    jobs.look()
    assert [name for name, each in sorted(jobs.decided.items()) if each.memory] == ["a", "b", "c"]
    jobs.until(State.CONVERGED, most=400)
    assert all(number >= 5 for number in jobs.has.values())

    del jobs.needs["a"], jobs.decided["a"]
    for _ in range(12):
        jobs.look()
    memory = Memory.of(jobs.decided["b"].memory)
    assert set(memory.jobs) == set("bcd")
    assert {entry.what for entry in memory.log} >= {"reconfiguration", "stable", "changed"}


def test_a_refusal_is_taken_back_and_leaves_nothing_asked() -> None:
    jobs = Jobs(needs={"a": 12}, has={"a": 2}, refused={"a": "the pool has no room"})
    jobs.look()
    assert jobs.decided["a"].settings == {"instances": {"score": 22}}
    memory = jobs.until(State.CONVERGED)

    assert jobs.decided["a"].settings == {}
    assert "the pool has no room" in memory.blacklist["a"].why or any(
        "the pool has no room" in entry.says for entry in memory.log
    )


def test_in_advise_nothing_is_done_and_it_says_what_would_be() -> None:
    jobs = Jobs(needs={"a": 12, "b": 3}, has={"a": 2, "b": 3})
    jobs.mode = dict.fromkeys("ab", Mode.ADVISE)
    jobs.look()
    memory = Memory.of(jobs.decided["a"].memory)

    assert jobs.decided["a"].settings == {"instances": {"score": 22}}
    assert [entry.what for entry in memory.log] == ["reconfiguration"]
    assert jobs.has["a"] == 2
    assert not [found for found in (jobs.look() for _ in range(5)) if found]


def test_a_job_in_advise_is_not_touched_by_what_is_done_for_others() -> None:
    jobs = Jobs(needs={"a": 5, "b": 5}, has={"a": 2, "b": 2}, mode={"b": Mode.ADVISE})
    jobs.until(State.CONVERGED)

    assert jobs.has["a"] >= 5
    assert jobs.has["b"] == 2
    assert jobs.decided["b"].settings


@pytest.mark.parametrize(
    ("view", "hold", "why"),
    [
        (job(seconds=0), None, "nothing is known"),
        (job(objective=None), False, "no SLO"),
        (job(seconds=10), None, "not measured"),
        (job(latency_ms=50.0), False, "it meets its SLO, utility 35 of 35"),
        (job(latency_ms=200.0), False, "nothing of it is congested"),
        (pooled(2, 12), True, "congested: pool:score (capacity 0.90)"),
        (on_spark({"1": 1.0}, cores=2, latency_ms=200.0), True, "congested: share (capacity 0.50)"),
    ],
)
def test_the_conditions_say_whether_it_can_help(view: View, hold: bool | None, why: str) -> None:
    found = conditions(view)

    assert found.hold is hold
    assert why in found.why


def test_a_job_without_pools_gets_a_share_and_on_few_slots_a_minimum() -> None:
    view = on_spark({"1": 1.0}, cores=2, latency_ms=200.0)
    options = checked(TECHNIQUE.options, {})
    [found] = decide_all({"a": view}, {"a": options}, {"a": Past(Mode.ACT)}).values()

    assert found.settings == {"share": 8, "min_share": 1}


def test_executors_are_asked_for_only_if_an_operator_lets_it() -> None:
    view = on_spark({"1": 1.0, "2": 1.0}, cores=2, latency_ms=200.0)
    options = checked(TECHNIQUE.options, {"executors": True, "share": False, "size": 12})
    [found] = decide_all({"a": view}, {"a": options}, {"a": Past(Mode.ACT)}).values()

    assert found.settings == {"executors": 6}


def test_the_figure_has_the_utility_of_every_ten_seconds_and_its_maximum() -> None:
    drawn = figure(job(latency_ms=200.0), None)
    own, most = drawn.series

    assert len(own.x) == 12
    assert own.y == pytest.approx([17.5] * 12, rel=1e-2)
    assert most.y == (35.0, 35.0)
    assert "no SLO" in figure(job(objective=None), None).note


def test_a_pool_is_asked_for_no_more_instances_than_it_has_room_for() -> None:
    made = pool([One(100, 9.0)], 60, room={"score": 5})
    elsewhere = pool([One(100, 9.0)], 60, host="node-b", room={"score": 3})
    sent = {("", "score-0"): 100}
    late = job(chain(made, sent, 60), chain(elsewhere, sent, 60), latency_ms=400.0, seconds=60)
    options: Options = checked(TECHNIQUE.options, {"size": 100})
    found = decide_all({"late": late}, {"late": options}, {"late": Past(Mode.ACT, "run")})
    assert found["late"].settings == {"instances": {"score": 3}}
