"""What a view has beside its series: pools, tasks, traffic and executors."""

from dataclasses import replace

import pytest

from collectors.formats import activity, keys, wire
from collectors.formats.activity import Activity, Kind, TaskFacts
from collectors.formats.buckets import Histogram
from collectors.formats.pools import InstanceSample, InstanceState, PoolSample, Sent
from collectors.formats.slots import ExecutorSlots
from collectors.formats.wire import WINDOW_MS, ExecutorSample, Frame, Shuffled
from dashboard.series import activities, windows
from dashboard.series.executor_history import GONE_AFTER_MS
from dashboard.series.history import LOOKS_BACK_MS, RUNNABLE, History, only
from techniques.view import EVERYTHING, Executor, Locality, Resource, ResourceKind, View
from tests.factories import START_MS, frame
from tests.techniques.detection.recorded import JOB_ID, seconds

READY = InstanceState.READY


def seen(*frames: Frame, ended: tuple[Activity, ...] = (), windows: int = 100) -> View:
    """Through the formats, as a worker reads them."""
    history = History(windows)
    history.add(
        [wire.decode(wire.encode(each), only(EVERYTHING)) for each in frames],
        activity.decode(activity.encode(ended)),
    )
    return history.view()


def instance(**changes: object) -> InstanceSample:
    return replace(InstanceSample(0, READY), **changes)  # type: ignore[arg-type]


def pool(*instances: InstanceSample, **changes: object) -> PoolSample:
    made = PoolSample("scores", "node-a", 1, ("score", "rank"), instances)
    return replace(made, **changes)  # type: ignore[arg-type]


def test_every_instance_of_a_pool_has_its_queue_its_work_and_its_latencies() -> None:
    worked = instance(
        queued=3, executed=2, busy_us=25_000, latency=Histogram.of([30_000, 30_000, 90_000])
    )
    idle, other = instance(), instance(operator=1, queued=7)
    sent = (Sent(0, 0, 5), Sent(1, 2, 2))
    view = seen(frame(0, pools=(pool(worked, idle, other, sent=sent),)), frame(1))

    (found,) = view.pools
    assert (found.name, found.host, found.policy) == ("scores", "node-a", 1)
    assert [each.name for each in found.instances] == ["score-0", "score-1", "rank-0"]
    assert [each.operator for each in found.instances] == ["score", "score", "rank"]
    first, second, _ = found.instances
    assert (first.queued[0], first.executed[0], first.busy[0]) == (3, 2, 0.5)
    # Of a window without the pool nothing is known.
    assert str(first.queued[1]) == "nan"
    assert first.latency.ms == pytest.approx([30, 90], rel=0.01)
    assert first.latency.count.tolist() == [2, 1]
    assert first.latency.window_ms.tolist() == [START_MS] * 2
    assert len(second.latency) == 0
    pairs = zip(found.sent.source, found.sent.target, found.sent.chunks, strict=True)
    assert list(pairs) == [("", "score-0", 5), ("score-0", "rank-0", 2)]


def test_a_pool_has_what_steers_it_window_by_window() -> None:
    weighed = instance(parked=4, weight=2_550, signal=1)
    steered = pool(
        weighed,
        policy=3,
        chunks_sent=40,
        replayed=3,
        replays_won=2,
        timeout_us=41_250,
        replay=1,
        tau_ms=80,
        shared_queued=(7, 2),
    )
    view = seen(
        frame(0, pools=(steered,)), frame(1), frame(2, pools=(pool(instance(), tau_ms=20),))
    )

    (found,) = view.pools
    assert (found.policy, found.replay, found.tau_ms) == (1, 0, 20)
    (one,) = found.instances
    nan = float("nan")
    expected = [
        (found.chunks, [40, nan, 0]),
        (found.replayed, [3, nan, 0]),
        (found.won, [2, nan, 0]),
        (found.shared_queued, [9, nan, 0]),
        (one.parked, [4, nan, 0]),
        (one.signal, [1, nan, 0]),
        # No timeout and no weight is not one of 0.
        (found.timeout_ms, [41.25, nan, nan]),
        (one.weight, [25.5, nan, nan]),
    ]
    for values, known in expected:
        assert values.tolist() == pytest.approx(known, nan_ok=True)


def test_a_pool_says_how_far_its_operators_may_grow_where_it_is_known() -> None:
    told = pool(instance(), instance(operator=1), shared_queued=(0, 0), room=(5, 0))
    view = seen(frame(0, pools=(told, pool(instance(), host="node-b"))))
    assert [dict(found.room) for found in view.pools] == [{"score": 5}, {}]


def test_queues_of_one_operator_are_siblings() -> None:
    instances = (instance(queued=1), instance(queued=2), instance(operator=1, queued=3))
    view = seen(frame(0, pools=(pool(*instances), pool(instance(), host="node-b"))))

    assert {name: queue.tolist() for name, queue in view.queues.items()} == {
        "scores@node-a/score/score-0": [1],
        "scores@node-a/score/score-1": [2],
        "scores@node-a/rank/rank-0": [3],
        "scores@node-b/score/score-0": [0],
    }


def test_a_pool_that_is_long_gone_is_forgotten_with_its_latencies() -> None:
    busy = pool(instance(queued=1, latency=Histogram.of([1_000])))
    history = History(10)
    history.add([frame(0, pools=(busy,))])
    for at in range(1, 30):
        history.add([frame(at)])

    assert history.view().pools == ()


def test_latencies_older_than_the_view_are_dropped() -> None:
    busy = pool(instance(latency=Histogram.of([1_000])))
    view = seen(*(frame(at, pools=(busy,)) for at in range(25)), windows=10)

    assert len(view.pools[0].instances[0].latency) == 10
    assert view.pools[0].instances[0].latency.window_ms[0] == view.start_ms


def test_a_pair_of_an_instance_that_there_is_not_is_left_out() -> None:
    view = seen(frame(0, pools=(pool(instance(), sent=(Sent(0, 9, 1), Sent(9, 0, 1))),)))

    assert len(view.pools[0].sent) == 0


def test_a_task_has_what_the_scheduler_knows_of_it() -> None:
    facts = TaskFacts(
        *(7, 1, 2, Locality.ANY),
        speculative=True,
        successful=False,
        stateful=True,
        kind=1,
        waited_ms=40,
    )
    start_us = START_MS * 1000
    ended = (
        Activity(Kind.TASK, start_us, start_us + 5_000, "1", None, 3, "stage 7", task=facts),
        # As an earlier collector tells it: an interval, and no more.
        Activity(Kind.TASK, start_us, start_us + 6_000, "1", None, 4, "stage 7"),
    )
    view = seen(frame(0), ended=ended)

    tasks = view.tasks
    assert len(tasks) == 1
    assert len(view.of("task")) == 2
    assert (tasks.stage[0], tasks.stage_attempt[0], tasks.partition[0]) == (7, 1, 3)
    assert (tasks.executor[0], tasks.attempt[0], tasks.locality[0]) == ("1", 2, Locality.ANY)
    assert (tasks.speculative[0], tasks.successful[0]) == (True, False)
    assert (tasks.kind[0], tasks.waited_ms[0]) == (1, 40)
    assert (tasks.stateful[0], tasks.result[0]) == (True, False)
    assert tasks.duration_ms.tolist() == [5.0]


def test_shuffle_traffic_is_told_by_pair_and_window() -> None:
    view = seen(
        frame(0, traffic=(Shuffled("1", "2", 100), Shuffled("2", "1", 50))),
        frame(1),
        frame(2, traffic=(Shuffled("1", "2", 7),)),
    )

    traffic = view.traffic
    assert traffic.source.tolist() == ["1", "2", "1"]
    assert traffic.target.tolist() == ["2", "1", "2"]
    assert traffic.shuffle_bytes.tolist() == [100, 50, 7]
    assert traffic.window_ms.tolist() == [START_MS, START_MS, START_MS + 2 * WINDOW_MS]


def test_executors_join_and_leave_and_come_back() -> None:
    def present(at: int, *ids: str) -> Frame:
        return frame(at, executors=tuple(ExecutorSample(each, f"node-{each}", {}) for each in ids))

    gone = GONE_AFTER_MS // WINDOW_MS
    frames = [
        *(present(at, "1", "2") for at in range(gone)),
        # A part that is late is no leave, nor is a window without any.
        present(gone, "1"),
        frame(gone + 1),
        *(present(at, "1", "2") for at in range(gone + 2, 2 * gone)),
        *(present(at, "1", "3") for at in range(2 * gone, 4 * gone)),
        *(present(at, "1", "2", "3") for at in range(4 * gone, 4 * gone + 5)),
    ]
    view = seen(*frames, windows=1_000)

    def at_ms(window: int) -> int:
        return START_MS + window * WINDOW_MS

    assert view.executors == (
        Executor("2", "node-2", None, at_ms(2 * gone)),
        Executor("1", "node-1"),
        Executor("3", "node-3", at_ms(2 * gone)),
        Executor("2", "node-2", at_ms(4 * gone)),
    )


def test_an_executor_has_its_cores_and_leaves_when_spark_says_so() -> None:
    both = tuple(ExecutorSample(each, f"node-{each}", {}) for each in ("1", "2"))
    told = (ExecutorSlots("1", 4), ExecutorSlots("2", 2), ExecutorSlots("3", 8))
    gone = GONE_AFTER_MS // WINDOW_MS
    frames = [
        frame(0, executors=both, slots=told),
        frame(1, executors=both),
        frame(2, executors=both, slots=(*told[:1], ExecutorSlots("2", 2, leaving=True))),
    ]

    assert [each.leaving for each in seen(*frames[:2]).executors] == [False, False]
    assert seen(*frames).executors == (
        Executor("1", "node-1", cores=4),
        Executor("2", "node-2", cores=2, leaving=True),
    )
    # It keeps that when it is gone, though nothing is told of it any more.
    after = [frame(3 + at, executors=both[:1], slots=told[:1]) for at in range(gone)]
    left = seen(*frames, *after).executors[0]
    assert (left.id, left.cores, left.leaving) == ("2", 2, True)
    assert left.left_ms is not None


def test_the_sink_is_known_from_the_frame_that_says_it_on() -> None:
    frames = [frame(0), frame(1, sink="ForeachBatchSink"), frame(2)]
    assert [seen(*frames[: at + 1]).sink for at in range(3)] == ["", *["ForeachBatchSink"] * 2]


def test_the_size_of_a_state_store_is_an_interval_of_no_length() -> None:
    at_us = START_MS * 1000
    sizes = tuple(
        Activity(Kind.STATE, at_us, at_us, "1", 0, partition, "default", input_bytes=size)
        for partition, size in enumerate((5_000, 7_000))
    )
    state = seen(frame(0), ended=sizes).of("state")

    assert state.partition.tolist() == [0, 1]
    assert state.input_bytes.tolist() == [5_000, 7_000]
    assert state.duration_ms.tolist() == [0, 0]


def test_a_recorded_run_has_traffic_run_queues_and_its_executor() -> None:
    """The traffic jam job on a real Spark of one JVM, as Redis held it."""
    history = History(LOOKS_BACK_MS // WINDOW_MS)
    shuffled = 0
    for news in seconds("scheduled"):
        frames, _ = windows.read(news.get(keys.frames(JOB_ID), ()), only(EVERYTHING))
        ended, _ = activities.read(news.get(keys.activities(JOB_ID), ()))
        history.add(frames, ended)
        shuffled += sum(each.shuffle_bytes for f in frames for each in f.traffic)
    view = history.view()

    assert view.traffic.shuffle_bytes.sum() == shuffled > 0
    (executor,) = view.executors
    assert (executor.id, executor.joined_ms, executor.left_ms) == ("driver", None, None)
    queue = view.use[Resource(ResourceKind.RUN_QUEUE, executor.host)]
    measured = {
        (f.start_ms - view.start_ms) // WINDOW_MS: sample.metrics[RUNNABLE]
        for f in frames
        for sample in f.executors
        if RUNNABLE in sample.metrics
    }
    assert measured
    assert view.cores == 2
    for window, threads in measured.items():
        assert queue[window] == threads / (2 * view.cores)
