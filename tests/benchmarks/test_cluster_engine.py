"""What a block asks of the job, in which order; and how a pilot decides."""

from collections import Counter
from collections.abc import Callable, Mapping
from uuid import UUID

import pytest

from benchmarks.cluster_engine import Pilot, SteeredQuery, one_block
from benchmarks.cluster_regimes import DEFAULT, OFF, REGIMES, SLOW_HOST, STALLS, Plan
from benchmarks.switchback.query import Refused
from collectors.formats.samples import ExecutorSample
from collectors.formats.wire import Frame
from techniques.registry import Registry
from techniques.schema import Settings

PLAN = Plan(rounds={}, settle=2, length=5)
EXECUTORS = ("driver", "0", "1", "2")
LIVE = Registry(("tests.techniques.live_conf",))


class MadeUpQuery(SteeredQuery):
    """Applies everything at once, unless it refuses; a batch is done whenever one is waited for."""

    def __init__(self, holds: bool = True) -> None:
        samples = tuple(ExecutorSample(each, "host", {}) for each in EXECUTORS)
        self.frames = [Frame(1, 1, UUID(int=7), executors=samples)]
        self.asked: list[Mapping[str, Settings]] = []
        self._holds = holds
        self._done = 0

    def ask_for(self, wanted: Mapping[str, Settings]) -> None:
        self.asked.append(wanted)

    def wait(self, condition: Callable[[], bool], patience_s: float) -> bool:
        return self._holds

    def wait_for_batches(self, more: int) -> tuple[int, int]:
        first, self._done = self._done, self._done + more
        return first, self._done - 1


def test_a_block_begins_with_all_partitions_spread_evenly() -> None:
    query = MadeUpQuery()
    stretch = one_block(query, REGIMES[SLOW_HOST], 3, DEFAULT, PLAN)
    back, then = query.asked
    places = back["state_balancing"]["places"]
    assert isinstance(places, Mapping)
    assert Counter(places.values()) == {"0": 4, "1": 4, "2": 4}
    # From then on nothing is asked of the technique: what is there stays where it is.
    assert then == {"live_speculation": {"on": True}}
    assert (stretch.round, stretch.arm) == (3, DEFAULT)
    assert stretch.last_batch - stretch.first_batch + 1 == PLAN.length


def test_a_query_without_state_has_nothing_to_spread() -> None:
    query = MadeUpQuery()
    one_block(query, REGIMES[STALLS], 0, OFF, PLAN)
    assert query.asked == [{"live_speculation": {"on": False}}]


def test_what_the_job_does_not_apply_in_time_is_refused() -> None:
    with pytest.raises(Refused, match="not applied"):
        one_block(MadeUpQuery(holds=False), REGIMES[STALLS], 0, OFF, PLAN)


def test_a_pilot_has_the_technique_s_own_options_and_decides_anew_only_what_is_new() -> None:
    pilot = Pilot(LIVE, "live_conf", {}, "run")
    assert pilot.settings is None
    assert pilot.decide()
    assert pilot.settings == {"factor": 3.0}
    assert not pilot.decide()


def test_a_pilot_takes_options_that_the_plan_gives_it() -> None:
    pilot = Pilot(LIVE, "live_conf", {"factor": 2.0}, "run")
    pilot.decide()
    assert pilot.settings == {"factor": 2.0}
