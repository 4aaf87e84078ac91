"""What is planted in an instance: being slow, and hanging again and again."""

import time

import pyarrow as pa
import pytest

from techniques.pool.plan import INSTANCE_VARIABLE
from techniques.pool.workload.heterogeneity import Heterogeneous

BATCH = pa.RecordBatch.from_pydict({"id": [1]})


class Clock:
    """Time that passes only while somebody sleeps, or when told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_s = 100.0
        self.slept_s: list[float] = []
        monkeypatch.setattr(time, "monotonic", lambda: self.now_s)
        monkeypatch.setattr(time, "perf_counter", lambda: self.now_s)
        monkeypatch.setattr(time, "sleep", self.sleep)

    def sleep(self, seconds: float) -> None:
        self.slept_s.append(seconds)
        self.now_s += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    monkeypatch.setenv(INSTANCE_VARIABLE, "score-1")
    return Clock(monkeypatch)


def same(batch: pa.RecordBatch) -> pa.RecordBatch:
    return batch


def test_an_instance_hangs_again_and_again_and_works_in_between(clock: Clock) -> None:
    planted = Heterogeneous(same, hangs_every={1: (10.0, 2.0)})
    began_s = []
    for _ in range(60):
        before = len(clock.slept_s)
        now_s = clock.now_s
        assert planted(BATCH) is BATCH
        if len(clock.slept_s) > before:
            began_s.append(now_s - 100)
        clock.now_s += 0.5
    assert clock.slept_s == [2.0] * len(began_s)
    # Every 10 s, counted from the beginning of one hang to that of the next.
    assert began_s == [10.0, 20.0, 30.0]


def test_the_others_do_not_hang(clock: Clock) -> None:
    planted = Heterogeneous(same, hangs_every={0: (10.0, 2.0)})
    for _ in range(60):
        planted(BATCH)
        clock.now_s += 0.5
    assert clock.slept_s == []


@pytest.mark.parametrize(("slow", "took_s"), [({1: 4.0}, 0.2), ({0: 4.0}, 0.05)])
def test_a_slow_instance_takes_as_many_times_longer_for_the_operator_itself(
    clock: Clock, slow: dict[int, float], took_s: float
) -> None:
    def call(batch: pa.RecordBatch) -> pa.RecordBatch:
        clock.now_s += 0.05
        return batch

    planted = Heterogeneous(call, slow=slow, slow_operator=True)
    began_s = clock.now_s
    planted(BATCH)
    assert clock.now_s - began_s == pytest.approx(took_s)


def test_only_planted_costs_are_multiplied_unless_told_otherwise(clock: Clock) -> None:
    def call(batch: pa.RecordBatch) -> pa.RecordBatch:
        clock.now_s += 0.05
        return batch

    began_s = clock.now_s
    Heterogeneous(call, base_us=10_000, slow={1: 4.0})(BATCH)
    assert clock.now_s - began_s == pytest.approx(0.04 + 0.05)
