"""Operator pools as columns."""

from dataclasses import replace

import pytest

from collectors.formats.buckets import Histogram
from collectors.formats.pools import InstanceSample, InstanceState, PoolSample
from dashboard.api.schemas import PoolInstanceOut, PoolOut
from dashboard.series import pool_columns
from tests.factories import frame

READY = InstanceState.READY


def pool(*instances: InstanceSample, **changes: object) -> PoolSample:
    made = PoolSample("scores", "node-a", 0, ("score", "rank"), instances)
    return replace(made, **changes)  # type: ignore[arg-type]


def test_every_instance_has_a_row_per_window_under_the_name_it_has_in_its_logs() -> None:
    worked = InstanceSample(
        0, READY, queued=3, executed=2, busy_us=25_000, latency=Histogram.of([30_000] * 9)
    )
    idle = InstanceSample(0, READY)
    other = InstanceSample(1, InstanceState.STARTING)
    frames = [
        frame(0, pools=(pool(worked, idle, other),)),
        frame(1, pools=(pool(idle, idle, other),)),
    ]
    [found] = pool_columns.columns(frames)
    assert [each["name"] for each in found["instances"]] == ["score-0", "score-1", "rank-0"]
    assert [each["state"] for each in found["instances"]] == ["ready", "ready", "starting"]
    first = found["instances"][0]
    assert (first["queued"], first["executed"], first["busy"]) == ([3, 0], [2, 0], [50.0, 0.0])
    assert first["p99"][1] is None
    assert abs(first["p99"][0] - 30) < 0.3


def test_windows_without_the_pool_are_empty_and_hosts_are_apart() -> None:
    here, there = pool(InstanceSample(0, READY)), pool(InstanceSample(0, READY), host="node-b")
    found = pool_columns.columns(
        [frame(0, pools=(there,)), frame(1), frame(2, pools=(here, there))]
    )
    assert [(each["host"], each["held_chunks"]) for each in found] == [
        ("node-a", [None, None, 0]),
        ("node-b", [0, None, 0]),
    ]


def test_a_pool_that_was_made_anew_is_as_it_is_now() -> None:
    before = pool(InstanceSample(0, READY, queued=1), policy=0)
    after = pool(InstanceSample(0, READY, queued=2), InstanceSample(1, READY), policy=1, replaced=1)
    [found] = pool_columns.columns([frame(0, pools=(before,)), frame(1, pools=(after,))])
    assert (found["policy"], found["replaced"]) == ("fewest-queued", 1)
    assert [each["queued"] for each in found["instances"]] == [[1, 2], [None, 0]]


def test_an_instance_keeps_its_row_when_others_come_and_go_before_it() -> None:
    def sized(scores: int, queued: int) -> PoolSample:
        last = InstanceSample(1, READY, queued=queued)
        return pool(*[InstanceSample(0, READY)] * scores, last)

    frames = [frame(at, pools=(sized(*each),)) for at, each in enumerate([(1, 5), (3, 6), (2, 7)])]
    [found] = pool_columns.columns(frames)
    assert [each["name"] for each in found["instances"]] == ["score-0", "score-1", "rank-0"]
    assert [each["queued"] for each in found["instances"]] == [[0, 0, 0], [None, 0, 0], [5, 6, 7]]


def test_a_policy_that_only_a_later_curtail_knows_is_shown_as_what_the_pool_makes_of_it() -> None:
    assert pool_columns.columns([frame(0, pools=(pool(policy=77),))])[0]["policy"] == "round-robin"


def test_what_steers_a_pool_has_a_row_per_window() -> None:
    weighed = InstanceSample(0, READY, parked=4, weight=2_550, signal=1)
    steered = pool(
        weighed,
        policy=4,
        chunks_sent=40,
        replayed=3,
        replays_won=2,
        timeout_us=41_250,
        replay=1,
        tau_ms=80,
        shared_queued=(7, 2),
    )
    before = pool(InstanceSample(0, READY))
    [found] = pool_columns.columns(
        [frame(0, pools=(before,)), frame(1, pools=(steered,)), frame(2)]
    )
    assert (found["policy"], found["replay"], found["tau_ms"]) == ("shared-queue", "adaptive", 80)
    # No timeout and no weight is not one of 0.
    assert found["timeout"] == [None, 41.25, None]
    names = ("sent", "replayed", "won", "shared_queued")
    assert [found[name] for name in names] == [[0, each, None] for each in (40, 3, 2, 9)]
    [one] = found["instances"]
    assert (one["parked"], one["signal"]) == ([0, 4, None], [0, 1, None])
    assert one["weight"] == [None, 25.5, None]


@pytest.mark.parametrize(
    ("number", "word"), [(0, "off"), (1, "adaptive"), (2, "hedge"), (3, "blind"), (77, "off")]
)
def test_which_chunks_are_replayed_is_a_word(number: int, word: str) -> None:
    assert pool_columns.columns([frame(0, pools=(pool(replay=number),))])[0]["replay"] == word


def test_the_api_says_of_a_pool_what_its_columns_have() -> None:
    [found] = pool_columns.columns([frame(0, pools=(pool(InstanceSample(0, READY)),))])
    assert set(found) == set(PoolOut.model_fields)
    assert set(found["instances"][0]) == set(PoolInstanceOut.model_fields)
