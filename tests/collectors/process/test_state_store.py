"""What state stores said in a real run of Spark 4.3 with RocksDB 9.8, read as intervals."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.formats.activity import Activity, Kind, decode, encode
from collectors.formats.parts import Event, EventSource
from collectors.process.events import state_store
from collectors.process.events.state_store import Finished, Lane, StateStores, StoreId, store_id

RUN = "962de0c4-e88a-4ee7-b27f-5b307faac587"
EXECUTOR = "3"


def context(operator: int = 0, partition: int = 1, run_id: str = RUN) -> str:
    return (
        f"StateStoreProviderId[ storeId=StateStoreId[ operatorId={operator}, "
        f"partitionId={partition}, storeName=default ], queryRunId={run_id} ]"
    )


STORE = StoreId(RUN, operator=0, partition=1, store="default")

FLUSH = (
    '{"time_micros": 1794817683147984, "job": 2, "event": "flush_started", "num_memtables": 1, '
    '"num_entries": 2579, "num_deletes": 0, "total_data_size": 113476, "memory_usage": 168504, '
    '"num_range_deletes": 0, "flush_reason": "Manual Flush"}\n',
    '{"time_micros": 1794817683150636, "cf_name": "default", "job": 2, "event": '
    '"table_file_creation", "file_number": 8, "file_size": 36050, "file_checksum": "", '
    '"file_checksum_func_name": "Unknown", "smallest_seqno": 1, "largest_seqno": 2579}',
    '{"time_micros": 1794817683151454, "job": 2, "event": "flush_finished", '
    '"output_compression": "LZ4", "lsm_state": [1, 0, 0, 0, 0, 0, 0], "immutable_memtables": 0}\n',
)
COMPACTION = (
    '{"time_micros": 1794817685221243, "job": 6, "event": "compaction_started", '
    '"compaction_reason": "LevelL0FilesNum", "files_L0": [11, 10, 9, 8], "score": 1, '
    '"input_data_size": 121247, "oldest_snapshot_seqno": -1}\n',
    '{"time_micros": 1794817685235564, "job": 6, "event": "compaction_finished", '
    '"compaction_time_micros": 13216, "compaction_time_cpu_micros": 4762, "output_level": 6, '
    '"num_output_files": 1, "total_output_size": 124001, "num_input_records": 9873, '
    '"num_output_records": 9873, "num_subcompactions": 1, "output_compression": "LZ4", '
    '"num_single_delete_mismatches": 0, "num_single_delete_fallthrough": 0, '
    '"lsm_state": [0, 0, 0, 0, 0, 0, 1]}\n',
)
UPLOADED = (
    f"{context()}: Upload snapshot of version 12, with uniqueId: None time taken: 72 ms. "
    "Current lineage: "
)


def native(body: str, where: str = context()) -> Event:
    return Event(EventSource.ROCKSDB, 1794817683147990, where, body)


def line(time_us: int, body: str, where: str = context()) -> Event:
    return Event(EventSource.STATE_STORE, time_us, where, body)


@pytest.fixture
def stores() -> StateStores:
    return StateStores()


def read(stores: StateStores, *events: Event, executor_id: str = EXECUTOR) -> list[Finished]:
    found = (stores.read(executor_id, event) for event in events)
    return [each for each in found if each is not None]


def test_a_store_is_known_by_the_name_of_its_logger() -> None:
    assert store_id(context()) == STORE
    join = context().replace("default", "right-keyWithIndexToValue")
    assert store_id(join) == replace(STORE, store="right-keyWithIndexToValue")


def test_a_flush_is_an_interval_with_its_bytes_and_reason(stores: StateStores) -> None:
    (found,) = read(stores, *map(native, FLUSH))
    assert found.store == STORE
    assert found.activity == Activity(
        Kind.FLUSH,
        start_us=1794817683147984,
        end_us=1794817683151454,
        executor_id=EXECUTOR,
        operator=0,
        partition=1,
        name="default",
        reason="Manual Flush",
        input_bytes=113476,
        output_bytes=36050,
    )


def test_a_compaction_is_an_interval_with_its_bytes_and_reason(stores: StateStores) -> None:
    (found,) = read(stores, *map(native, COMPACTION))
    assert found.activity == Activity(
        Kind.COMPACTION,
        start_us=1794817685221243,
        end_us=1794817685235564,
        executor_id=EXECUTOR,
        operator=0,
        partition=1,
        name="default",
        reason="LevelL0FilesNum",
        input_bytes=121247,
        output_bytes=124001,
    )


def test_a_commit_begins_with_the_first_of_two_equal_lines(stores: StateStores) -> None:
    (found,) = read(
        stores,
        line(1_000, "Flushing updates for 10"),
        line(1_200, "Flushing updates for 10"),
        line(90_000, "Committed 10"),
    )
    activity = found.activity
    assert (activity.kind, activity.start_us, activity.end_us) == (Kind.COMMIT, 1_000, 90_000)
    assert stores.open() == ()


def test_a_commit_that_was_rolled_back_is_none(stores: StateStores) -> None:
    (found,) = read(
        stores,
        line(1_000, "Flushing updates for 10"),
        line(2_000, "Rolling back uncommitted changes on version 9"),
        line(500_000, "Flushing updates for 10"),
        line(600_000, "Committed 10"),
    )
    assert found.activity.start_us == 500_000


def test_the_end_of_another_commit_than_the_one_begun_is_not_its_end(stores: StateStores) -> None:
    assert not read(stores, line(1_000, "Flushing updates for 10"), line(2_000, "Committed 11"))
    assert stores.open() == ()


def test_a_snapshot_began_as_long_ago_as_its_upload_took(stores: StateStores) -> None:
    (found,) = read(stores, line(1_000_000, UPLOADED))
    activity = found.activity
    assert (activity.kind, activity.start_us, activity.end_us) == (
        Kind.SNAPSHOT,
        928_000,
        1_000_000,
    )


def test_the_provider_in_memory_tells_when_a_commit_ended_and_a_snapshot_was_written(
    stores: StateStores,
) -> None:
    commit, snapshot = read(
        stores, line(5_000, "Committed version 10"), line(20_000, "writeSnapshotFile() took 16 ms.")
    )
    assert commit.activity.kind == Kind.COMMIT
    assert (commit.activity.start_us, commit.activity.end_us) == (5_000, 5_000)
    assert snapshot.activity.kind == Kind.SNAPSHOT
    assert (snapshot.activity.start_us, snapshot.activity.end_us) == (4_000, 20_000)


def test_the_size_of_a_store_is_an_activity_without_a_length(stores: StateStores) -> None:
    seen = Event(EventSource.STATE_SIZE, 1794817683147990, context(), "5242880")
    [sized] = read(stores, seen)
    assert sized.store == STORE
    assert sized.activity == Activity(
        *(Kind.STATE, seen.time_us, seen.time_us, EXECUTOR),
        operator=0,
        partition=1,
        name="default",
        input_bytes=5_242_880,
    )
    # Nothing of it runs at any moment.
    assert stores.open() == ()
    assert stores.most_at_once(seen.time_us - 10, seen.time_us + 10) == {}


@pytest.mark.parametrize("body", ["", "-1", "many", "1e9", "٣", "9" * 19])
def test_a_size_that_is_no_number_of_bytes_is_none(stores: StateStores, body: str) -> None:
    assert read(stores, Event(EventSource.STATE_SIZE, 1, context(), body)) == []


def test_what_began_and_has_not_ended_is_open(stores: StateStores) -> None:
    read(stores, native(COMPACTION[0]))
    (running,) = stores.open()
    assert (running.store, running.kind, running.job) == (STORE, Kind.COMPACTION, 6)
    read(stores, native(COMPACTION[1]))
    assert stores.open() == ()


def test_the_files_of_level_0_are_those_of_the_last_event(stores: StateStores) -> None:
    read(stores, *map(native, FLUSH))
    assert stores.l0_files() == {(RUN, 0, 1): 1}
    read(stores, *map(native, COMPACTION))
    assert stores.l0_files() == {(RUN, 0, 1): 0}


def test_of_several_stores_of_a_partition_the_fullest_counts(stores: StateStores) -> None:
    left, right = (context().replace("default", name) for name in ("left", "right"))
    fuller = FLUSH[2].replace("[1, 0", "[3, 0")
    read(stores, native(fuller, left), native(FLUSH[2], right))
    assert stores.l0_files() == {(RUN, 0, 1): 3}


def test_the_end_of_a_compaction_whose_start_we_missed_says_how_long_it_took(
    stores: StateStores,
) -> None:
    (found,) = read(stores, native(COMPACTION[1]))
    assert found.activity.end_us - found.activity.start_us == 13216
    assert found.activity.output_bytes == 124001


def test_the_end_of_a_flush_whose_start_we_missed_tells_only_the_level_0(
    stores: StateStores,
) -> None:
    assert read(stores, native(FLUSH[2])) == []
    assert stores.l0_files() == {(RUN, 0, 1): 1}


def test_jobs_of_two_databases_with_one_number_are_two(stores: StateStores) -> None:
    here, there = context(partition=0), context(partition=1)
    read(stores, native(COMPACTION[0], here), native(COMPACTION[0], there))
    assert len(stores.open()) == 2
    read(stores, native(COMPACTION[1], there))
    assert [each.store.partition for each in stores.open()] == [0]


def test_a_partition_that_moved_to_another_executor_is_another_database(
    stores: StateStores,
) -> None:
    read(stores, native(COMPACTION[0]), executor_id="1")
    read(stores, native(COMPACTION[0]), executor_id="2")
    assert {each.executor_id for each in stores.open()} == {"1", "2"}


def at(body: str, time_us: int, job: int) -> str:
    return json.dumps(json.loads(body) | {"time_micros": time_us, "job": job})


def test_the_most_at_once_counts_running_and_ended_ones_of_all_executors(
    stores: StateStores,
) -> None:
    lane = Lane(RUN, 0, Kind.COMPACTION)
    read(stores, native(at(COMPACTION[0], 1_000, 1)), executor_id="1")
    read(stores, native(at(COMPACTION[0], 2_000, 1)), executor_id="2")
    read(stores, native(at(COMPACTION[1], 3_000, 1)), executor_id="2")
    assert stores.most_at_once(0, 50_000) == {lane: 2}
    assert stores.most_at_once(50_000, 100_000) == {lane: 1}


def test_a_closed_database_runs_nothing_any_more(stores: StateStores) -> None:
    read(
        stores,
        native(COMPACTION[0]),
        native(COMPACTION[0], context(partition=2)),
        native("Shutdown complete"),
    )
    assert [each.store.partition for each in stores.open()] == [2]


def test_a_lost_executor_runs_nothing_any_more(stores: StateStores) -> None:
    read(stores, native(COMPACTION[0]), executor_id="1")
    read(stores, native(COMPACTION[0]), executor_id="2")
    stores.forget_executor("1")
    assert [each.executor_id for each in stores.open()] == ["2"]


def test_an_ended_run_is_forgotten(stores: StateStores) -> None:
    other = context(run_id="other")
    read(stores, *(native(body, where) for where in (context(), other) for body in FLUSH[:1]))
    read(stores, native(COMPACTION[1]), native(COMPACTION[1], other))
    stores.forget_run(RUN)
    assert [each.store.run_id for each in stores.open()] == ["other"]
    assert list(stores.l0_files()) == [("other", 0, 1)]


def test_what_never_ends_is_let_go(stores: StateStores) -> None:
    read(stores, native(COMPACTION[0]))
    began_us = stores.open()[0].start_us
    assert stores.most_at_once(began_us + 50_000, began_us + 100_000)
    later_us = began_us + state_store.LONGEST_US + 1
    assert stores.most_at_once(later_us, later_us + 50_000) == {}
    assert stores.open() == ()


def test_ended_ones_are_kept_for_a_moment_only(stores: StateStores) -> None:
    read(stores, *map(native, COMPACTION))
    window_us = 1794817685200000
    assert stores.most_at_once(window_us, window_us + 50_000)
    late_us = window_us + 2 * state_store.KEPT_US
    assert stores.most_at_once(late_us, late_us + 50_000) == {}
    assert stores.most_at_once(window_us, window_us + 50_000) == {}


def test_more_open_ones_than_any_job_has_push_out_the_oldest(
    stores: StateStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state_store, "MOST_OPEN", 3)
    read(stores, *(native(at(COMPACTION[0], 1_000 + job, job)) for job in range(5)))
    assert [each.job for each in stores.open()] == [2, 3, 4]


def test_events_of_others_are_left_alone(stores: StateStores) -> None:
    assert read(stores, Event(EventSource.GC, 1, "G1 Young Generation", FLUSH[0])) == []
    assert read(stores, native(FLUSH[0], "somebody else")) == []
    assert stores.open() == ()


words = st.sampled_from(
    [*FLUSH, *COMPACTION, UPLOADED, "Flushing updates for 10", "Committed 10", "Shutdown complete"]
)


@given(
    events=st.lists(
        st.builds(
            Event,
            st.sampled_from(list(EventSource)),
            st.integers(0, 2**60),
            st.just(context()) | st.text(),
            words
            | st.text()
            | st.builds(lambda body, cut: body[:cut], words, st.integers(0, 300))
            | st.builds(
                lambda body, key, value: json.dumps(json.loads(body) | {key: value}),
                st.sampled_from([*FLUSH, *COMPACTION]),
                st.sampled_from(["event", "job", "time_micros", "lsm_state", "file_size"]),
                st.none() | st.integers() | st.text() | st.lists(st.integers()) | st.floats(),
            ),
        )
    )
)
def test_whatever_is_said_breaks_nothing_and_what_ended_can_be_sent(events: list[Event]) -> None:
    stores = StateStores()
    activities = [found.activity for found in read(stores, *events)]
    assert decode(encode(activities)) == tuple(activities)
    assert all(count > 0 for count in stores.most_at_once(0, 2**61).values())
