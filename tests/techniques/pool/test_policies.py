"""The pool's policies with made-up instances and a made-up clock."""

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from techniques.latency_balancing.algorithm import Tuning
from techniques.pool import policies
from techniques.pool.policies import SHARED, Instances, Policy, Worked

MS = 1_000_000


@dataclass
class Queues:
    """Stands for the instances of an operator, by the lengths of their queues."""

    lengths: dict[int, int]
    shares: Mapping[int, float] = field(default_factory=dict)
    tuning: Tuning = field(default_factory=Tuning)
    period_s: float = 5.0
    now_s: float = 100.0
    published: list[Mapping[int, float]] = field(default_factory=list)
    done: dict[int, Worked] = field(default_factory=dict)

    @property
    def ready(self) -> Sequence[int]:
        return sorted(self.lengths)

    def queued(self, instance: int) -> int:
        return self.lengths[instance]

    def worked(self, instance: int) -> Worked:
        return self.done.get(instance, Worked(0, 0))

    def weigh(self, weights: Mapping[int, float]) -> None:
        self.published.append(dict(weights))

    def work(self, instance: int, chunks: int, each_ms: float) -> None:
        before = self.worked(instance)
        latency_ns = before.latency_ns + int(chunks * each_ms * MS)
        self.done[instance] = Worked(before.chunks + chunks, latency_ns)


def chosen(policy: Policy, instances: Instances, chunks: int) -> Counter[int]:
    return Counter(policy.choose(instances) for _ in range(chunks))


@pytest.fixture
def _same_dice() -> Iterator[None]:
    state = random.getstate()
    random.seed(11)
    yield
    random.setstate(state)


def test_round_robin_gives_each_its_turn_whatever_waits_there() -> None:
    policy, queues = policies.RoundRobin(), Queues({3: 9, 4: 0, 5: 0})
    assert [policy.choose(queues) for _ in range(7)] == [3, 4, 5, 3, 4, 5, 3]


def test_round_robin_goes_on_behind_an_instance_that_is_gone() -> None:
    policy = policies.RoundRobin()
    assert policy.choose(Queues({0: 0, 1: 0, 2: 0})) == 0
    assert policy.choose(Queues({0: 0, 2: 0})) == 2
    assert policy.choose(Queues({0: 0, 1: 0, 2: 0})) == 0


def test_fewest_queued_takes_the_shortest_queue_and_turns_among_equals() -> None:
    policy = policies.FewestQueued()
    assert {policy.choose(Queues({0: 4, 1: 2, 2: 3})) for _ in range(5)} == {1}
    equal = Queues({0: 1, 1: 1, 2: 1})
    assert {policy.choose(equal) for _ in range(3)} == {0, 1, 2}


@pytest.mark.usefixtures("_same_dice")
def test_power_of_two_never_takes_the_longest_queue_and_often_the_shortest() -> None:
    found = chosen(policies.PowerOfTwo(), Queues({0: 9, 1: 0, 2: 5, 3: 7}), 6_000)
    assert found[0] == 0
    # Of six pairs the shortest is in three, the next one is the shorter of two, the next of one.
    assert found[1] == pytest.approx(3_000, rel=0.1)
    assert found[2] == pytest.approx(2_000, rel=0.1)
    assert found[3] == pytest.approx(1_000, rel=0.1)


@pytest.mark.usefixtures("_same_dice")
def test_power_of_two_is_even_among_equals() -> None:
    found = chosen(policies.PowerOfTwo(), Queues({0: 2, 1: 2, 2: 2}), 6_000)
    assert all(found[each] == pytest.approx(2_000, rel=0.1) for each in range(3))


def test_power_of_two_makes_do_with_one() -> None:
    assert chosen(policies.PowerOfTwo(), Queues({6: 40}), 3) == {6: 3}


def test_the_shared_queue_is_no_instance() -> None:
    assert chosen(policies.SharedQueue(), Queues({0: 0, 1: 5}), 3) == {SHARED: 3}


def test_weights_begin_even_and_take_turns() -> None:
    policy, queues = policies.LatencyWeighted(), Queues({2: 0, 3: 0, 4: 0, 5: 0})
    assert [policy.choose(queues) for _ in range(8)] == [2, 3, 4, 5, 2, 3, 4, 5]
    assert queues.published == [{2: 25, 3: 25, 4: 25, 5: 25}]


def test_weights_begin_with_the_shares_that_were_set() -> None:
    policy, queues = policies.LatencyWeighted(), Queues({0: 0, 1: 0}, shares={0: 30, 1: 70})
    assert chosen(policy, queues, 100) == {0: 30, 1: 70}


def test_no_share_is_below_the_least_even_if_it_was_set_so() -> None:
    policy, queues = policies.LatencyWeighted(), Queues({0: 0, 1: 0}, shares={0: 0, 1: 100})
    assert chosen(policy, queues, 100) == {0: 1, 1: 99}


def test_after_a_period_a_unit_moves_from_slow_to_fast() -> None:
    policy, queues = policies.LatencyWeighted(), Queues({0: 0, 1: 0})
    policy.choose(queues)
    queues.work(0, 10, each_ms=4)
    queues.work(1, 10, each_ms=5)
    queues.now_s += 4.9
    policy.choose(queues)
    assert queues.published == [{0: 50, 1: 50}]
    queues.now_s += 0.1
    policy.choose(queues)
    assert queues.published[-1] == {0: 51, 1: 49}
    assert chosen(policy, queues, 100) == {0: 51, 1: 49}


def test_only_what_was_done_in_the_period_counts() -> None:
    policy, queues = policies.LatencyWeighted(), Queues({0: 0, 1: 0})
    # Before this dispatcher began, the second instance was slow; since then it is not.
    queues.work(0, 1_000, each_ms=1)
    queues.work(1, 1_000, each_ms=500)
    policy.choose(queues)
    queues.work(0, 10, each_ms=1)
    queues.work(1, 10, each_ms=1)
    queues.now_s += 5
    policy.choose(queues)
    assert queues.published[-1] == {0: 50, 1: 50}


def test_latencies_age_over_periods() -> None:
    policy, queues = policies.LatencyWeighted(), Queues({0: 0, 1: 0})
    # 20 ms, then (10 + 20) / 2, then (10 + 15) / 2, then (10 + 12.5) / 2 against 10 ms each time.
    for slow_ms, first_has in ((20, 51), (10, 52), (10, 53), (10, 53)):
        policy.choose(queues)
        queues.work(0, 5, each_ms=10)
        queues.work(1, 5, each_ms=slow_ms)
        queues.now_s += 5
        policy.choose(queues)
        assert queues.published[-1][0] == first_has


def test_an_instance_that_did_nothing_keeps_its_latency_and_gives_on() -> None:
    policy, queues = policies.LatencyWeighted(), Queues({0: 0, 1: 0})
    policy.choose(queues)
    queues.work(0, 5, each_ms=1)
    queues.work(1, 5, each_ms=9)
    for first_has in (51, 52):
        queues.now_s += 5
        policy.choose(queues)
        assert queues.published[-1][0] == first_has


def test_an_instance_whose_counts_began_again_is_measured_from_there() -> None:
    policy, queues = policies.LatencyWeighted(), Queues({0: 0, 1: 0})
    queues.work(1, 1_000, each_ms=1)
    policy.choose(queues)
    queues.done[1] = Worked(3, 3 * MS)
    queues.work(0, 5, each_ms=1)
    queues.now_s += 5
    policy.choose(queues)
    assert queues.published[-1] == {0: 50, 1: 50}
    queues.work(0, 5, each_ms=1)
    queues.work(1, 5, each_ms=9)
    queues.now_s += 5
    policy.choose(queues)
    assert queues.published[-1] == {0: 51, 1: 49}


def test_the_share_of_a_gone_instance_goes_to_the_others_and_comes_back() -> None:
    policy = policies.LatencyWeighted()
    queues = Queues({0: 0, 1: 0, 2: 0, 3: 0}, shares={0: 40, 1: 20, 2: 20, 3: 20})
    policy.choose(queues)
    del queues.lengths[0]
    found = chosen(policy, queues, 99)
    assert 0 not in found
    assert all(found[each] == pytest.approx(33, abs=1) for each in (1, 2, 3))
    queues.lengths[0] = 0
    policy.choose(queues)
    assert queues.published[-1] == pytest.approx(dict.fromkeys(range(4), 25))


@given(st.lists(st.integers(1, 100), min_size=1, max_size=8), st.integers(50, 300))
def test_each_gets_its_share_at_all_times(parts: list[int], chunks: int) -> None:
    shares = {each: part * 100 / sum(parts) for each, part in enumerate(parts)}
    tuning = Tuning(least=0)
    queues = Queues(dict.fromkeys(shares, 0), shares=shares, tuning=tuning)
    found = chosen(policies.LatencyWeighted(), queues, chunks)
    for each, share in shares.items():
        assert found[each] == pytest.approx(chunks * share / 100, abs=len(parts))


def test_dispatchers_do_not_share_their_weights() -> None:
    one, other = policies.LatencyWeighted(), policies.LatencyWeighted()
    queues = Queues({0: 0, 1: 0})
    one.choose(queues)
    queues.work(0, 5, each_ms=1)
    queues.work(1, 5, each_ms=9)
    queues.now_s += 5
    one.choose(queues)
    other.choose(queues)
    assert queues.published[-2:] == [{0: 51, 1: 49}, {0: 50, 1: 50}]


@pytest.mark.parametrize("name", policies.POLICIES)
def test_every_policy_chooses_who_is_ready(name: str) -> None:
    policy = policies.policy(policies.number_of(name))
    for ready in ((0, 1, 2, 3), (1, 3), (2,), (0, 1, 2, 3)):
        found = chosen(policy, Queues(dict.fromkeys(ready, 1)), 10)
        assert set(found) <= {*ready, SHARED}


def test_every_policy_has_a_number_of_its_own() -> None:
    numbers = {name: number for name, (number, _) in policies.POLICIES.items()}
    assert numbers == {
        "round-robin": 0,
        "fewest-queued": 1,
        "power-of-two": 2,
        "latency-weighted": 3,
        "shared-queue": 4,
    }
    assert all(policies.name_of(number) == name for name, number in numbers.items())


def test_an_unknown_number_is_the_baseline_and_an_unknown_name_is_refused() -> None:
    assert policies.name_of(9999) == policies.BASELINE
    assert isinstance(policies.policy(9999), policies.RoundRobin)
    with pytest.raises(ValueError, match="no policy 'best'; there are round-robin, fewest-queued"):
        policies.number_of("best")
