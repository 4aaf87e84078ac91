"""Operator pools as columns."""

from dataclasses import replace

from collectors.formats.buckets import Histogram
from collectors.formats.pools import InstanceSample, InstanceState, PoolSample
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


def test_a_policy_that_only_a_later_curtail_knows_is_shown_as_what_the_pool_makes_of_it() -> None:
    assert pool_columns.columns([frame(0, pools=(pool(policy=77),))])[0]["policy"] == "round-robin"
