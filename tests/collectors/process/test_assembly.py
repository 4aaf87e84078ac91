import json
from dataclasses import replace

from collectors.formats.activity import Kind
from collectors.formats.buckets import Histogram
from collectors.formats.lag import Basis, Lag
from collectors.formats.metrics import BY_NAME
from collectors.formats.parts import Event, EventSource, Latencies, Losses, Part, UsedPool
from collectors.formats.pools import InstanceSample, InstanceState, PoolSample, Sent
from collectors.formats.slots import ExecutorSlots
from collectors.formats.state_sizes import StateSize
from collectors.formats.wire import WINDOW_MS, Batch, ExecutorSample, Frame, OperatorState, Shuffled
from collectors.process.assembly import (
    CLOSES_AFTER_MS,
    MOST_ACTIVITIES,
    MOST_WINDOWS_AT_ONCE,
    RARE_EVERY_WINDOWS,
    Assembler,
    Running,
)
from collectors.process.events.offsets import PartitionOffsets
from collectors.process.events.progress import Progress
from collectors.process.events.task_messages import (
    ExecutorChange,
    Flow,
    Stage,
    StageWait,
    TaskRecord,
    Tasks,
    Traffic,
)
from collectors.process.facts import Facts
from tests.factories import RUN_ID, START_MS

QUERY, RUN, JOB = "query-1", str(RUN_ID), "orders.scored"
FIRST = START_MS // WINDOW_MS
RESIDENT = BY_NAME["process_resident_bytes"].id


def assembler(*queries: str) -> Assembler:
    made = Assembler(START_MS)
    for query in queries or (QUERY,):
        made.start(Running(query, RUN, f"{JOB}-{query}" if queries else JOB))
    return made


def told(window: int, *events: Event, executor: str = "1", ahead_us: int = 0) -> Part:
    metrics = {BY_NAME["clock_ahead_us"].id: ahead_us}
    return Part(window, executor, f"node-{executor}", Losses(), metrics, (), (), events)


def rocksdb(event: str, at_us: int, job: int, partition: int = 0, operator: int = 0) -> Event:
    """As the probe passes on a line of RocksDB's event log."""
    context = (
        f"StateStoreProviderId[ storeId=StateStoreId[ operatorId={operator}, "
        f"partitionId={partition}, storeName=default ], queryRunId={RUN} ]"
    )
    said = {"time_micros": at_us, "job": job, "event": event, "lsm_state": [3, 0]}
    return Event(EventSource.ROCKSDB, at_us, context, json.dumps(said))


def part(
    window: int,
    executor: str = "1",
    latencies_ms: tuple[int, ...] = (),
    ago: int = 0,
    dropped_parts: int = 0,
    lost_records: int = 0,
) -> Part:
    seen = Latencies(QUERY, window - ago, Histogram.of(ms * 1000 for ms in latencies_ms))
    return Part(
        window=window,
        executor_id=executor,
        host=f"node-{executor}",
        losses=Losses(records=lost_records, parts=dropped_parts),
        metrics={1: 500},
        latencies=(seen,) if latencies_ms else (),
        tasks=(),
        events=(),
    )


def closed(made: Assembler, now_ms: int, dropped_frames: int = 0) -> list[Frame]:
    return [each.frame for each in made.close(now_ms, dropped_frames)]


def just_closed(windows: int) -> int:
    """The moment at which this many windows since the start have closed."""
    return START_MS + windows * WINDOW_MS + CLOSES_AFTER_MS


def test_a_window_closes_200_ms_after_its_end_and_not_before() -> None:
    made = assembler()
    assert closed(made, just_closed(1) - 1) == []
    assert [frame.window for frame in closed(made, just_closed(1))] == [FIRST]


def test_every_window_gives_a_frame_even_when_nothing_happened() -> None:
    frames = closed(assembler(), just_closed(20))
    assert [frame.window for frame in frames] == list(range(FIRST, FIRST + 20))
    assert [frame.sequence for frame in frames] == list(range(20))


def test_the_parts_of_all_executors_make_one_frame() -> None:
    made = assembler()
    made.add_part(part(FIRST, "2", (30, 40)), START_MS + 60)
    made.add_part(part(FIRST, "1", (10, 20)), START_MS + 70)
    [frame] = closed(made, just_closed(1))
    assert frame.latency == Histogram.of([10_000, 20_000, 30_000, 40_000])
    assert frame.executors == (
        ExecutorSample("1", "node-1", {1: 500}),
        ExecutorSample("2", "node-2", {1: 500}),
    )


def test_what_an_executor_reports_of_an_earlier_open_window_is_merged_there() -> None:
    made = assembler()
    made.add_part(part(FIRST + 1, latencies_ms=(10,), ago=1), START_MS + 110)
    first, second = closed(made, just_closed(2))
    assert (first.latency.count, second.latency.count) == (1, 0)


def test_what_comes_after_the_window_closed_is_counted_as_late() -> None:
    made = assembler()
    closed(made, just_closed(1))
    made.add_part(part(FIRST), just_closed(1))
    made.add_part(part(FIRST + 1, latencies_ms=(10,), ago=1), just_closed(1))
    [frame] = closed(made, just_closed(2))
    assert (frame.health.late_parts, frame.health.lost_records) == (2, 1)
    assert frame.latency.count == 0


def test_a_part_from_the_far_future_is_not_believed() -> None:
    made = assembler()
    made.add_part(part(FIRST + 1_000_000), START_MS)
    [frame] = closed(made, just_closed(1))
    assert frame.health.late_parts == 1


def test_a_batch_belongs_to_the_window_in_which_it_ended() -> None:
    made = assembler()
    batch = Batch(1, START_MS - 500, 570, 1_000)
    made.add_progress(Progress(QUERY, RUN, batch, None), START_MS + 100)
    frames = closed(made, just_closed(3))
    assert [frame.batches for frame in frames] == [(), (batch,), ()]


def test_a_batch_that_is_reported_late_appears_in_the_next_window() -> None:
    made = assembler()
    closed(made, just_closed(5))
    batch = Batch(1, START_MS - 500, 510, 1_000)
    made.add_progress(Progress(QUERY, RUN, batch, None), just_closed(5))
    assert closed(made, just_closed(6))[0].batches == (batch,)


def test_the_backlog_holds_until_the_next_word_of_it() -> None:
    made = assembler()
    made.add_progress(Progress(QUERY, RUN, None, 42), START_MS)
    assert [frame.backlog_rows for frame in closed(made, just_closed(3))] == [42, 42, 42]


def test_once_a_record_was_stamped_every_later_frame_says_so() -> None:
    made = assembler()
    made.add_part(part(FIRST + 1, latencies_ms=(10,)), START_MS + 110)
    assert [frame.stamped for frame in closed(made, just_closed(1))] == [True]
    assert [frame.stamped for frame in closed(made, just_closed(3))] == [True, True]


def test_frames_say_that_a_run_warms_up_until_its_batches_are_no_longer_shorter() -> None:
    made = Assembler(START_MS)
    made.start(Running(QUERY, RUN, JOB, started_ms=START_MS))
    for number, duration_ms in enumerate((90, 40, 20, 20, 20, 20, 20)):
        ended_ms = START_MS + (number + 1) * WINDOW_MS - 10
        batch = Batch(number, ended_ms - duration_ms, duration_ms, 1)
        made.add_progress(Progress(QUERY, RUN, batch, None), ended_ms)
    frames = closed(made, just_closed(9))
    # With the seventh batch the median of three is what it was three batches before.
    assert [frame.warming_up for frame in frames] == [True] * 7 + [False] * 2


def test_a_collector_that_hears_of_a_run_late_does_not_take_it_for_one_that_warms_up() -> None:
    made = Assembler(START_MS)
    made.start(Running(QUERY, RUN, JOB, started_ms=START_MS - 60_000))
    assert not any(frame.warming_up for frame in closed(made, just_closed(3)))


def test_a_gc_pause_reaches_every_job_of_the_application() -> None:
    made = assembler(QUERY, "query-2")
    body = {
        "start_us": START_MS * 1000,
        "end_us": START_MS * 1000 + 9_000,
        "action": "end of minor GC",
        "cause": "Allocation Failure",
        "heap_before": 2,
        "heap_after": 1,
    }
    pause = Event(EventSource.GC, START_MS * 1000 + 9_000, "G1 Young Generation", json.dumps(body))
    made.add_part(told(FIRST, pause), START_MS + 60)
    by_job = {each.job_id: each.activities for each in made.close(just_closed(1), 0)}
    assert len(by_job) == 2
    for [activity] in by_job.values():
        assert (activity.kind, activity.executor_id) == (Kind.GC, "1")
        assert activity.end_us - activity.start_us == 9_000


def test_compactions_that_run_at_once_are_counted_while_they_run_and_told_when_they_end() -> None:
    made = assembler()
    start_us = START_MS * 1000
    begun = [rocksdb("compaction_started", start_us + 10, 1, partition) for partition in (0, 1, 2)]
    made.add_part(told(FIRST, *begun), START_MS + 60)
    [first] = made.close(just_closed(1), 0)
    assert first.frame.state == (OperatorState(0, flushes=0, compactions=3),)
    assert first.activities == ()
    ended = [
        rocksdb("compaction_finished", start_us + 70_000, 1, partition) for partition in (0, 1)
    ]
    made.add_part(told(FIRST + 1, *ended), START_MS + 110)
    second, third = made.close(just_closed(3), 0)
    assert second.frame.state[0].compactions == 3
    assert third.frame.state == (OperatorState(0, flushes=0, compactions=1, l0_files=3),)
    assert [each.kind for each in second.activities] == [Kind.COMPACTION, Kind.COMPACTION]


def test_what_an_executor_with_another_clock_tells_is_put_on_the_drivers() -> None:
    made = assembler()
    host_us = START_MS * 1000 - 7_000_000
    events = (rocksdb("flush_started", host_us, 1), rocksdb("flush_finished", host_us + 900, 1))
    made.add_part(told(FIRST, *events, ahead_us=7_000_000), START_MS + 60)
    [only] = made.close(just_closed(1), 0)
    assert [each.start_us for each in only.activities] == [START_MS * 1000]
    assert only.frame.state[0].flushes == 1


def test_a_lost_executor_takes_its_open_compactions_with_it() -> None:
    made = assembler()
    made.add_part(told(FIRST, rocksdb("compaction_started", START_MS * 1000, 1)), START_MS + 60)
    made.add_executor(ExecutorChange("1", joined=False, time_ms=START_MS + 70))
    assert [each.frame.state for each in made.close(just_closed(1), 0)] == [()]


def test_the_sink_and_the_executors_slots_are_in_one_frame_a_second() -> None:
    made = assembler()
    made.add_executor(ExecutorChange("1", True, START_MS, "node-1", 4))
    made.add_executor(ExecutorChange("2", True, START_MS, "node-2", 2))
    made.add_executor(ExecutorChange("2", True, START_MS + 9, "node-2", 2, leaving=True))
    made.add_progress(Progress(QUERY, RUN, None, None, "ForeachBatchSink"), START_MS)
    frames = closed(made, just_closed(3 * RARE_EVERY_WINDOWS))
    told = [frame for frame in frames if frame.sink or frame.slots]
    assert len(told) == 3
    assert {frame.sink for frame in told} == {"ForeachBatchSink"}
    assert {frame.slots for frame in told} == {
        (ExecutorSlots("1", 4), ExecutorSlots("2", 2, leaving=True))
    }
    made.add_executor(ExecutorChange("2", False, START_MS + 3_000))
    frames = closed(made, just_closed(4 * RARE_EVERY_WINDOWS))
    assert [frame.slots for frame in frames if frame.slots] == [(ExecutorSlots("1", 4),)]


def test_what_changes_slowly_is_in_one_frame_a_second() -> None:
    made = assembler()
    sizes = (StateSize(0, "dedupe", 40, 4_096),)
    offsets = (PartitionOffsets(0, "orders-0", 5, 5),)
    progress = Progress(
        QUERY, RUN, None, None, planned_ms=START_MS, offsets=offsets, state_sizes=sizes
    )
    made.add_progress(progress, START_MS)
    for window in range(FIRST, FIRST + 3 * RARE_EVERY_WINDOWS):
        told = {RESIDENT: 7_000} if window % RARE_EVERY_WINDOWS == 7 else {}
        sent = replace(part(window), metrics={1: 500, **told})
        made.add_part(sent, (window + 1) * WINDOW_MS)
    frames = closed(made, just_closed(3 * RARE_EVERY_WINDOWS))
    slow = [frame for frame in frames if frame.state_sizes]
    assert {frame.window % RARE_EVERY_WINDOWS for frame in slow} == {0}
    assert len(slow) == 3
    assert {frame.state_sizes for frame in slow} == {sizes}
    assert [frame.lag for frame in frames if frame.lag] == [Lag(0, Basis.OFFSETS, 1)] * 3
    memory = {frame.window: frame.executors[0].metrics.get(RESIDENT) for frame in frames}
    assert {window for window, value in memory.items() if value} <= {each.window for each in slow}
    assert memory[slow[-1].window] == 7_000


def test_a_realizer_is_told_of_the_sink_that_spark_names() -> None:
    facts = Facts()
    made = Assembler(START_MS, facts)
    made.start(Running(QUERY, RUN, JOB))
    made.add_progress(Progress(QUERY, RUN, None, None, "ForeachBatchSink"), START_MS)
    made.add_progress(Progress(QUERY, "another run", None, None, "MemorySink"), START_MS)
    assert facts.of(QUERY, RUN).sink == "ForeachBatchSink"


def state_size(partition: int, size: int) -> Event:
    context = rocksdb("", 0, 0, partition).context
    return Event(EventSource.STATE_SIZE, START_MS * 1000, context, str(size))


def flushed(partition: int) -> tuple[Event, Event]:
    at_us = START_MS * 1000
    return (
        rocksdb("flush_started", at_us, 1, partition),
        rocksdb("flush_finished", at_us + 9, 1, partition),
    )


def sizes(made: Assembler, windows: int) -> list[tuple[str, int | None]]:
    ended = [each for window in made.close(just_closed(windows), 0) for each in window.activities]
    return [(each.executor_id, each.input_bytes) for each in ended if each.kind is Kind.STATE]


def test_the_size_of_a_store_is_that_of_the_executor_that_has_the_partition_now() -> None:
    made = assembler()
    made.add_part(told(FIRST, *flushed(0), state_size(0, 500), executor="1"), START_MS + 60)
    made.add_part(told(FIRST, *flushed(0), state_size(0, 700), executor="2"), START_MS + 70)
    assert sizes(made, 1) == [("1", 500), ("2", 700)]
    # Spark keeps the first one's open for a while after the move.
    made.add_part(told(FIRST + 1, state_size(0, 500), executor="1"), START_MS + 110)
    made.add_part(told(FIRST + 1, state_size(0, 701), executor="2"), START_MS + 110)
    assert sizes(made, 2) == [("2", 701)]


def test_what_an_executor_does_with_a_store_that_moved_away_does_not_move_it_back() -> None:
    facts = Facts()
    made = Assembler(START_MS, facts)
    made.start(Running(QUERY, RUN, JOB))
    at_us = START_MS * 1000
    compacted = (
        rocksdb("compaction_started", at_us, 2),
        rocksdb("compaction_finished", at_us + 9, 2),
    )
    made.add_part(told(FIRST, *flushed(0), executor="1"), START_MS + 60)
    made.add_part(told(FIRST, *flushed(0), executor="2"), START_MS + 60)
    made.add_part(told(FIRST + 1, *compacted, executor="1"), START_MS + 110)
    assert facts.of(QUERY, RUN).partitions == {(0, 0): "2"}


def test_sizes_alone_are_no_work_of_an_operator() -> None:
    made = assembler()
    made.add_part(told(FIRST, state_size(0, 500)), START_MS + 60)
    [frame] = closed(made, just_closed(1))
    assert frame.state == ()


def test_an_event_that_says_nonsense_is_counted() -> None:
    made = assembler()
    made.add_part(told(FIRST, Event(EventSource.GC, 1, "G1", "{]")), START_MS + 60)
    [frame] = closed(made, just_closed(1))
    assert frame.health.unreadable_messages == 1


def test_a_flood_of_activities_is_cut_and_counted() -> None:
    made = assembler()
    started = [rocksdb("flush_started", START_MS * 1000, n) for n in range(MOST_ACTIVITIES + 5)]
    ended = [rocksdb("flush_finished", START_MS * 1000 + 9, n) for n in range(MOST_ACTIVITIES + 5)]
    made.add_part(told(FIRST, *started, *ended), START_MS + 60)
    [first] = made.close(just_closed(1), 0)
    assert len(first.activities) == MOST_ACTIVITIES
    [frame] = closed(made, just_closed(2))
    assert frame.health.lost_events == 5


def test_tasks_and_traffic_of_a_query_are_in_its_frame() -> None:
    made = assembler()
    stage = Stage(7, query_id=QUERY, run_id=RUN)
    wait = StageWait(stage, tasks=4, waiting=2, running=1, submitted_ms=START_MS)
    records = (
        TaskRecord(stage, "1", 1, 0, 0, launch_ms=START_MS + 1),
        TaskRecord(stage, "2", 2, 1, 0, START_MS + 1, finish_ms=START_MS + 30, successful=True),
    )
    made.add_tasks(Tasks(0, (wait,), records))
    made.add_traffic(Traffic(stage, START_MS + 30, True, (Flow("1", "2", 100), Flow("1", "2", 50))))
    [only] = made.close(just_closed(1), 0)
    assert only.frame.tasks.running == 2
    assert (only.frame.tasks.waiting, only.frame.tasks.finished) == (2, 1)
    assert only.frame.traffic == (Shuffled("1", "2", 150),)
    assert [each.kind for each in only.activities] == [Kind.TASK]


def test_the_phases_of_a_batch_are_told_as_intervals() -> None:
    made = assembler()
    batch = Batch(1, START_MS - 500, 520, 1_000, (0, 0, 20, 0, 480, 20))
    made.add_progress(Progress(QUERY, RUN, batch, None), START_MS + 30)
    [only] = made.close(just_closed(1), 0)
    assert [each.name for each in only.activities] == [
        "batch 1",
        "queryPlanning",
        "addBatch",
        "commitOffsets",
    ]


def test_several_queries_are_several_jobs_and_share_the_machine() -> None:
    made = assembler(QUERY, "query-2")
    made.add_part(part(FIRST, latencies_ms=(10,)), START_MS + 60)
    frames = {each.job_id: each.frame for each in made.close(just_closed(1), 0)}
    assert frames[f"{JOB}-{QUERY}"].latency.count == 1
    assert frames[f"{JOB}-query-2"].latency.count == 0
    assert all(len(frame.executors) == 1 for frame in frames.values())


def test_a_restarted_query_goes_on_under_a_new_run() -> None:
    made = assembler()
    closed(made, just_closed(3))
    other = "11111111-2222-3333-4444-555555555555"
    made.start(Running(QUERY, other, JOB))
    made.terminate(QUERY, RUN, just_closed(3))  # Spark may report it after the new one's start
    [frame] = closed(made, just_closed(4))
    assert (str(frame.run_id), frame.sequence) == (other, 0)


def test_a_query_that_is_told_of_twice_goes_on_as_it_was() -> None:
    made = assembler()
    closed(made, just_closed(3))
    made.start(Running(QUERY, RUN, JOB))
    assert [frame.sequence for frame in closed(made, just_closed(4))] == [3]


def test_a_terminated_query_gives_its_last_frames_and_no_more() -> None:
    made = assembler()
    batch = Batch(1, START_MS - 500, 610, 1_000)
    made.add_progress(Progress(QUERY, RUN, batch, None), START_MS + 120)
    made.terminate(QUERY, RUN, START_MS + 125)
    frames = closed(made, just_closed(50))
    assert [frame.batches for frame in frames] == [(), (), (batch,)]


def test_losses_of_executors_and_of_the_link_are_added_up() -> None:
    made = assembler()
    made.lost_on_link(5)
    made.add_part(part(FIRST, "1", dropped_parts=2, lost_records=10), START_MS)
    made.add_part(part(FIRST, "2", dropped_parts=1, lost_records=7), START_MS)
    [frame] = closed(made, just_closed(1), dropped_frames=3)
    assert (frame.health.dropped_frames, frame.health.lost_parts) == (3, 8)
    assert frame.health.lost_records == 17


def test_task_events_that_were_lost_are_in_the_frames() -> None:
    made = assembler()
    made.add_tasks(Tasks(4, (), ()))
    [frame] = closed(made, just_closed(1))
    assert frame.health.lost_events == 4


def test_after_a_long_stall_the_hole_shows_in_the_sequence() -> None:
    made = assembler()
    frames = closed(made, just_closed(10_000))
    assert len(frames) == MOST_WINDOWS_AT_ONCE
    assert frames[-1].sequence == 9_999
    assert {frame.health.skipped_windows for frame in frames} == {10_000 - MOST_WINDOWS_AT_ONCE}


def test_windows_skipped_before_a_run_began_are_not_its_own() -> None:
    made = assembler()
    closed(made, just_closed(10_000))
    made.start(Running("query-2", "11111111-2222-3333-4444-555555555555", "later"))
    by_job = {each.job_id: each.frame for each in made.close(just_closed(10_001), 0)}
    assert by_job["later"].health.skipped_windows == 0
    assert by_job[JOB].health.skipped_windows == 10_000 - MOST_WINDOWS_AT_ONCE


def test_a_run_is_known_until_its_last_window_has_closed() -> None:
    made = assembler()
    made.terminate(QUERY, RUN, START_MS + 10)
    closed(made, just_closed(1) - 1)
    assert made.over() == []
    closed(made, just_closed(1))
    assert made.over() == [RUN]
    assert made.over() == []


def test_of_windows_that_are_skipped_the_samples_are_late_and_the_batches_kept() -> None:
    made = assembler()
    made.add_part(part(FIRST, "1", latencies_ms=(10,)), START_MS + 60)
    made.add_part(part(FIRST, "2"), START_MS + 60)
    batches = [Batch(id_, START_MS - 500, 500 + id_ * WINDOW_MS, 1_000) for id_ in (0, 1, 9_900)]
    for batch in batches:
        made.add_progress(Progress(QUERY, RUN, batch, None), just_closed(9_999))
    frames = closed(made, just_closed(10_000))
    assert frames[0].batches == tuple(batches[:2])
    assert [batch for frame in frames for batch in frame.batches] == batches
    assert (frames[0].health.late_parts, frames[0].health.lost_records) == (3, 1)
    assert frames[0].latency.count == 0


def pool(host: str, executed: int = 0, queued: int = 0, name: str = "score") -> PoolSample:
    """As one executor of the host tells it."""
    return PoolSample(
        name=name,
        host=host,
        policy=0,
        operators=(name,),
        instances=(
            InstanceSample(
                0,
                InstanceState.READY,
                queued=queued,
                executed=executed,
                busy_us=1_000 * executed,
                latency=Histogram({7: executed} if executed else {}),
            ),
        ),
        sent=(Sent(0, 0, executed),) if executed else (),
    )


def with_pools(window: int, executor: str, *told: PoolSample) -> Part:
    """Pools that the query QUERY uses."""
    return used_pools(window, executor, *(UsedPool(each, frozenset({QUERY})) for each in told))


def used_pools(window: int, executor: str, *told: UsedPool) -> Part:
    return replace(part(window, executor), pools=told)


def test_a_job_sees_its_pools_by_name_and_host() -> None:
    made = assembler()
    made.add_part(with_pools(FIRST, "2", pool("node-2", 5)), START_MS + 60)
    made.add_part(
        with_pools(FIRST, "1", pool("node-1", 3), pool("node-1", 4, name="rank")), START_MS + 70
    )
    [frame] = closed(made, just_closed(1))
    assert frame.pools == (pool("node-1", 4, name="rank"), pool("node-1", 3), pool("node-2", 5))


def test_a_pool_is_in_the_frames_of_those_queries_that_use_it() -> None:
    made = assembler("a", "b", "c")
    told = {"as": "a", "shared": "ab", "nobodys": ""}
    used = [UsedPool(pool("node", 1, name=name), frozenset(who)) for name, who in told.items()]
    made.add_part(used_pools(FIRST, "1", *used), START_MS + 60)
    pools = {
        each.job_id: [one.name for one in each.frame.pools]
        for each in made.close(just_closed(1), dropped_frames=0)
    }
    assert list(pools.values()) == [["as", "shared"], ["shared"], []]


def test_a_query_that_one_of_two_executors_told_of_has_the_pool_whole() -> None:
    made = assembler("a", "b")
    for executor, query in (("1", "a"), ("2", "b")):
        told = UsedPool(pool("node", 2), frozenset({query}))
        made.add_part(used_pools(FIRST, executor, told), START_MS + 60)
    for frame in closed(made, just_closed(1)):
        assert frame.pools == (pool("node", 4),)


def test_a_pool_that_another_executor_took_over_is_there_once_with_all_its_chunks() -> None:
    made = assembler()
    made.add_part(with_pools(FIRST, "1", pool("node", 3, queued=9)), START_MS + 60)
    made.add_part(with_pools(FIRST, "2", pool("node", 2, queued=1)), START_MS + 70)
    [frame] = closed(made, just_closed(1))
    assert frame.pools == (pool("node", 5, queued=1),)


def test_what_tasks_did_with_chunks_is_added_up_when_another_executor_takes_a_pool_over() -> None:
    def told(chunks: int, **levels: int) -> PoolSample:
        made = pool("node")
        return replace(
            made,
            instances=(replace(made.instances[0], dropped=chunks),),
            chunks_sent=chunks,
            replayed=chunks,
            replays_won=chunks,
            results_dropped=chunks,
            **levels,  # type: ignore[arg-type]
        )

    made = assembler()
    made.add_part(with_pools(FIRST, "1", told(3, timeout_us=900, tau_ms=80)), START_MS + 60)
    made.add_part(with_pools(FIRST, "2", told(2, timeout_us=700, replay=1)), START_MS + 70)
    [frame] = closed(made, just_closed(1))
    assert frame.pools == (told(5, timeout_us=700, replay=1),)


def test_a_pool_made_anew_of_something_else_is_as_it_is_now() -> None:
    made = assembler()
    anew = replace(pool("node", 2), instances=pool("node", 1).instances * 2)
    made.add_part(with_pools(FIRST, "1", pool("node", 3)), START_MS + 60)
    made.add_part(with_pools(FIRST, "2", anew), START_MS + 70)
    [frame] = closed(made, just_closed(1))
    assert frame.pools == (anew,)


def test_pools_of_a_part_that_came_too_late_are_counted_with_it() -> None:
    made = assembler()
    closed(made, just_closed(1))
    made.add_part(with_pools(FIRST, "1", pool("node", 3)), just_closed(1))
    [frame] = closed(made, just_closed(2))
    assert (frame.pools, frame.health.late_parts) == ((), 1)
