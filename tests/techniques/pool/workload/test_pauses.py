"""Instances that stand still now and then: as drawn, whoever asks, and not while nobody said so."""

import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from techniques.pool.plan import INSTANCE_VARIABLE
from techniques.pool.workload.heterogeneity import BEGAN, Heterogeneous, Stamped
from techniques.pool.workload.pauses import Pause, Pauses, done_s
from techniques.pool.workload.topologies import pass_on

ROWS = pa.RecordBatch.from_pydict({"id": [1, 2]})
DRAWN = (Pause(1.0, 1.5), Pause(2.0, 3.0))


@pytest.fixture
def pauses(tmp_path: Path) -> Pauses:
    return Pauses(str(tmp_path / "pauses"), every_s=2.0, least_s=0.1, most_s=0.3)


@pytest.mark.parametrize(
    ("begin_s", "work_s", "done"),
    [
        (0.0, 0.5, 0.5),  # before the first pause
        (0.9, 0.2, 1.6),  # a pause falls into it
        (1.2, 0.2, 1.7),  # it comes while the instance stands still
        (1.2, 0.0, 1.5),
        (1.5, 0.5, 2.0),  # between two
        (0.9, 1.0, 3.4),  # two pauses fall into it, the second because of the first
        (3.0, 1.0, 4.0),  # after the last
    ],
)
def test_work_stands_still_during_pauses(begin_s: float, work_s: float, done: float) -> None:
    assert done_s(DRAWN, begin_s, work_s) == pytest.approx(done)


def test_the_same_draw_has_the_same_pauses_for_an_instance_and_others_for_the_next(
    pauses: Pauses,
) -> None:
    assert pauses.of("exclaim-0", 1) == pauses.of("exclaim-0", 1)
    assert pauses.of("exclaim-0", 1) != pauses.of("exclaim-1", 1)
    assert pauses.of("exclaim-0", 1) != pauses.of("exclaim-0", 2)


def test_an_instance_stands_still_for_its_share_of_the_time(pauses: Pauses) -> None:
    drawn = [pause for draw in range(20) for pause in pauses.of("exclaim-0", draw)]
    lengths_s = np.array([pause.stop_s - pause.start_s for pause in drawn])
    assert lengths_s.min() >= 0.1
    assert lengths_s.max() <= 0.3
    whole_s = sum(pauses.of("exclaim-0", draw)[-1].stop_s for draw in range(20))
    assert lengths_s.sum() / whole_s == pytest.approx(pauses.share, rel=0.1)


def test_nobody_pauses_before_a_stretch_begins_nor_after_it(pauses: Pauses) -> None:
    assert pauses.end_s(5.0, 1.0) == 6.0
    pauses.begin(0)
    pauses.stop()
    assert pauses.end_s(5.0, 1.0) == 6.0


def test_pauses_are_told_from_the_begin_of_the_stretch(
    pauses: Pauses, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(INSTANCE_VARIABLE, "exclaim-3")
    before_s = time.monotonic()
    pauses.begin(7)
    after_s = time.monotonic()
    first = pauses.of("exclaim-3", 7)[0]
    end_s = pauses.end_s(after_s, first.start_s + 0.01)
    assert before_s + first.stop_s <= end_s - 0.01 <= after_s + first.stop_s + (after_s - before_s)


def test_an_operator_stands_still_when_its_time_has_come(tmp_path: Path) -> None:
    # Hardly a moment between pauses of 50 ms.
    always = Pauses(str(tmp_path / "pauses"), every_s=1e-6, least_s=0.05, most_s=0.05)
    operator = Heterogeneous(pass_on, pauses=always)
    always.begin(0)
    time.sleep(0.001)
    began_s = time.monotonic()
    assert operator(ROWS) is ROWS
    assert time.monotonic() - began_s >= 0.02


def test_a_stamp_says_when_the_work_began() -> None:
    before_ns = time.monotonic_ns()
    stamped = Stamped(Heterogeneous(pass_on, base_us=5_000))(ROWS)
    began_ns = stamped.column(BEGAN).to_pylist()
    assert len(set(began_ns)) == 1
    assert len(began_ns) == 2
    assert before_ns <= began_ns[0] <= time.monotonic_ns() - 5_000_000
