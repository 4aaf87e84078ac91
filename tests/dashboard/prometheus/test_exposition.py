"""Read back with Prometheus's own parser."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from collectors.formats.announcement import Announcement
from collectors.formats.buckets import Histogram
from collectors.formats.coarse_buckets import BOUNDS_US
from collectors.formats.collector_load import CollectorLoad
from collectors.formats.lag import Basis, Lag, PartitionLag
from collectors.formats.latency import Source
from collectors.formats.metrics import BY_NAME
from collectors.formats.pulse import Pulse
from collectors.formats.state_sizes import StateSize
from collectors.formats.wire import Batch, ExecutorSample, Frame, Health
from collectors.process.pulse_taker import PulseTaker
from dashboard.fleet.jobs import STALE_AFTER_MS
from dashboard.prometheus import exposition
from dashboard.prometheus.exposition import REMEMBERED_MS
from tests.factories import ANNOUNCEMENT, PULSE, START_MS, announcement, frame

DOCS = Path(__file__).parents[3] / "docs" / "metrics.md"
HEARD_MS = ANNOUNCEMENT.heartbeat_ms
LABELS = {"job": "orders.scored", "application": "orders", "query": "scored"}


def families(
    *announced: Announcement,
    newest: dict[str, Frame] | None = None,
    slow: dict[str, Frame] | None = None,
    now_ms: int = HEARD_MS,
) -> dict[str, Metric]:
    text = exposition(announced, newest or {}, slow or {}, now_ms).decode()
    return {family.name: family for family in text_string_to_metric_families(text)}


def samples(found: dict[str, Metric], name: str) -> Iterator[Sample]:
    for family in found.values():
        yield from (sample for sample in family.samples if sample.name == name)


def value(found: dict[str, Metric], name: str) -> float:
    [sample] = samples(found, name)
    assert sample.labels == LABELS
    return sample.value


def pulse_of(*frames: Frame, committed: Histogram | None = None) -> Pulse:
    taker = PulseTaker()
    for each in frames:
        taker.add(each, committed or Histogram())
    return taker.pulse(CollectorLoad())


def test_counts_under_every_bound_are_those_of_the_frames() -> None:
    latencies_ms = [tuple(range(1 + at, 5_000, 37)) for at in range(20)]
    frames = [frame(at, latencies) for at, latencies in enumerate(latencies_ms)]
    found = families(announcement(pulse=pulse_of(*frames)))
    raw_s = [ms / 1000 for latencies in latencies_ms for ms in latencies]
    buckets = list(samples(found, "curtail_record_latency_seconds_bucket"))
    assert len(buckets) == len(BOUNDS_US) + 1
    for bucket in buckets:
        assert bucket.value == sum(1 for each in raw_s if each <= float(bucket.labels["le"]))
    assert buckets[-1].labels == {**LABELS, "le": "+Inf"}
    assert value(found, "curtail_record_latency_seconds_count") == len(raw_s)
    assert value(found, "curtail_record_latency_seconds_sum") == pytest.approx(
        sum(raw_s), rel=0.0078
    )


def test_committed_latencies_and_batches_have_histograms_of_their_own() -> None:
    batch = Batch(1, START_MS - 2_000, 2_000, 40)
    pulse = pulse_of(frame(0, (10,), batches=(batch,)), committed=Histogram.of([1_500_000] * 3))
    found = families(announcement(pulse=pulse))
    assert value(found, "curtail_committed_latency_seconds_count") == 3
    assert value(found, "curtail_batch_duration_seconds_count") == 1
    assert value(found, "curtail_batch_duration_seconds_sum") == pytest.approx(2, rel=0.01)
    assert found["curtail_batch_duration_seconds"].type == "histogram"


def test_without_stamps_there_is_no_record_latency_rather_than_a_wrong_one() -> None:
    pulse = pulse_of(frame(0, batches=(Batch(1, 0, 900, 40),)))
    assert pulse.source is Source.BATCH
    found = families(announcement(pulse=pulse))
    assert not list(samples(found, "curtail_record_latency_seconds_count"))
    assert not list(samples(found, "curtail_committed_latency_seconds_count"))
    assert value(found, "curtail_batch_duration_seconds_count") == 1


def test_totals_and_levels_are_in_base_units() -> None:
    pulse = Pulse(
        rows_in=4_000,
        batches=7,
        flushes=3,
        compactions=2,
        failed_tasks=1,
        health=Health(11, 12, 13, 14, 15, 16, 17),
        load=CollectorLoad(300, 5, 6, 2_500_000, 40_000_000),
        backlog_rows=9,
    )
    found = families(announcement(pulse=pulse))
    expected = {
        "curtail_job_up": 1,
        "curtail_job_start_timestamp_seconds": START_MS / 1000,
        "curtail_job_heartbeat_timestamp_seconds": HEARD_MS / 1000,
        "curtail_rows_total": 4_000,
        "curtail_batches_total": 7,
        "curtail_state_flushes_total": 3,
        "curtail_state_compactions_total": 2,
        "curtail_tasks_failed_total": 1,
        "curtail_backlog_rows": 9,
        "curtail_collector_frames_shipped_total": 300,
        "curtail_collector_activities_shipped_total": 5,
        "curtail_collector_frames_dropped_total": 11,
        "curtail_collector_parts_late_total": 12,
        "curtail_collector_parts_lost_total": 13,
        "curtail_collector_records_lost_total": 14,
        "curtail_collector_events_lost_total": 15,
        "curtail_collector_messages_unreadable_total": 16,
        "curtail_collector_windows_skipped_total": 17,
        "curtail_collector_cpu_seconds_total": 2.5,
        "curtail_collector_buffer_entries": 6,
        "curtail_collector_resident_bytes": 40_000_000,
    }
    assert {name: value(found, name) for name in expected} == expected


def test_what_is_not_known_is_left_out() -> None:
    found = families(announcement(pulse=Pulse()))
    assert not list(samples(found, "curtail_backlog_rows"))
    assert not list(samples(found, "curtail_collector_resident_bytes"))
    assert value(found, "curtail_rows_total") == 0


def test_a_job_without_a_pulse_is_still_up() -> None:
    found = families(ANNOUNCEMENT)
    assert value(found, "curtail_job_up") == 1
    assert not list(samples(found, "curtail_rows_total"))


@pytest.mark.parametrize(
    ("changes", "later_ms"), [({}, STALE_AFTER_MS), ({"ended_ms": HEARD_MS}, 0)]
)
def test_of_a_job_that_fell_silent_or_ended_only_totals_are_told(
    changes: dict[str, int], later_ms: int
) -> None:
    job = announcement(pulse=PULSE, **changes)
    newest = {job.job_id: frame(20, executors=(ExecutorSample("1", "node-a", {1: 500}),))}
    found = families(job, newest=newest, now_ms=HEARD_MS + later_ms)
    assert value(found, "curtail_job_up") == 0
    assert value(found, "curtail_rows_total") == PULSE.rows_in
    assert value(found, "curtail_record_latency_seconds_count") == 5
    for level in ("curtail_backlog_rows", "curtail_executor_host_cpu_ratio"):
        assert not list(samples(found, level))


def test_of_a_run_long_past_only_its_last_word_is_told() -> None:
    found = families(announcement(pulse=PULSE), now_ms=HEARD_MS + REMEMBERED_MS)
    assert value(found, "curtail_job_up") == 0
    assert value(found, "curtail_job_heartbeat_timestamp_seconds") == HEARD_MS / 1000
    assert not list(samples(found, "curtail_rows_total"))
    assert not list(samples(found, "curtail_record_latency_seconds_bucket"))


def test_levels_of_executors_come_from_the_newest_frame() -> None:
    seen = {
        BY_NAME["host_cpu"].id: 375,
        BY_NAME["heap_after_gc_bytes"].id: 1_000_000,
        BY_NAME["heap_max_bytes"].id: 4_000_000,
        BY_NAME["clock_ahead_us"].id: -2_000,
    }
    executors = (ExecutorSample("1", "node-a", seen), ExecutorSample("driver", "node-b", {}))
    newest = {ANNOUNCEMENT.job_id: frame(10, executors=executors)}
    found = families(ANNOUNCEMENT, newest=newest)
    labels = {**LABELS, "executor": "1", "host": "node-a"}
    for name, expected in {
        "curtail_executor_host_cpu_ratio": 0.375,
        "curtail_executor_heap_after_gc_bytes": 1_000_000,
        "curtail_executor_heap_max_bytes": 4_000_000,
        "curtail_executor_clock_ahead_seconds": -0.002,
    }.items():
        [sample] = samples(found, name)
        assert (sample.labels, sample.value) == (labels, expected)


def test_what_changes_slowly_comes_from_the_frame_of_a_whole_second() -> None:
    memory = {BY_NAME["process_resident_bytes"].id: 7_000, BY_NAME["rocksdb_cache_bytes"].id: 90}
    slow = frame(
        0,
        executors=(ExecutorSample("1", "node-a", memory),),
        lag=Lag(
            2_500, Basis.RATE, 12, (PartitionLag("orders-3", 900), PartitionLag("orders-3", 7))
        ),
        state_sizes=(StateSize(0, "dedupe", 40, 4_096, 70_000), StateSize(1, "join", None, 5)),
    )
    job_id = ANNOUNCEMENT.job_id
    found = families(ANNOUNCEMENT, newest={job_id: frame(10)}, slow={job_id: slow})
    own = {"executor": "1", "host": "node-a"}
    for name, labels, expected in (
        ("curtail_executor_resident_bytes", own, 7_000),
        ("curtail_executor_rocksdb_cache_bytes", own, 90),
        ("curtail_lag_seconds", {"basis": "rate"}, 2.5),
        ("curtail_lag_partitions", {}, 12),
        ("curtail_lag_partition_rows", {"partition": "orders-3"}, 900),
        ("curtail_state_rows", {"operator": "0", "name": "dedupe"}, 40),
    ):
        [sample] = samples(found, name)
        assert (sample.labels, sample.value) == ({**LABELS, **labels}, expected)
    assert [each.value for each in samples(found, "curtail_state_bytes")] == [70_000, 5]


def test_a_newest_frame_from_before_an_outage_says_nothing_of_now() -> None:
    old = frame(-STALE_AFTER_MS // 50, executors=(ExecutorSample("1", "node-a", {1: 500}),))
    found = families(ANNOUNCEMENT, newest={ANNOUNCEMENT.job_id: old})
    assert not list(samples(found, "curtail_executor_host_cpu_ratio"))


def test_a_restarted_run_counts_from_its_own_beginning() -> None:
    before = pulse_of(*(frame(at, (10, 20)) for at in range(50)))
    after = pulse_of(frame(60, (30,)))
    name = "curtail_record_latency_seconds_count"
    assert value(families(announcement(pulse=before)), name) == 100
    assert value(families(announcement(pulse=after, run_id="another")), name) == 1


def test_names_that_need_quoting_come_through() -> None:
    odd = announcement(application='a "b"\\c\nd', query="é\\n", pulse=Pulse())
    [sample] = samples(families(odd), "curtail_rows_total")
    assert (sample.labels["application"], sample.labels["query"]) == ('a "b"\\c\nd', "é\\n")


def test_several_jobs_are_told_apart() -> None:
    jobs = [announcement(job_id=f"job-{n}", pulse=Pulse(rows_in=n)) for n in (3, 1, 2)]
    rows = {s.labels["job"]: s.value for s in samples(families(*jobs), "curtail_rows_total")}
    assert rows == {"job-1": 1, "job-2": 2, "job-3": 3}


def test_without_jobs_there_are_names_and_no_numbers() -> None:
    found = families()
    assert "curtail_job_up" in found
    assert not [sample for family in found.values() for sample in family.samples]


def test_every_metric_is_in_the_documentation_with_its_type() -> None:
    text = exposition([], {}, {}, HEARD_MS).decode()
    told = re.findall(r"^# TYPE (\w+) (\w+)$", text, re.MULTILINE)
    documented = re.findall(r"^\| `(curtail_\w+)` \| (\w+) \|", DOCS.read_text(), re.MULTILINE)
    assert sorted(documented) == sorted(told)
