"""What goes wrong around a job on three hosts: it never notices, and what was lost is said.

One job runs through all of them, one after another; in the end its output is compared, batch by
batch, with that of the same job without Curtail.
"""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from collectors.formats.buckets import merged
from collectors.formats.wire import WINDOW_MS
from dashboard.testing.cluster import Cluster
from dashboard.testing.stack import redis_server
from tests.cluster import job as program
from tests.cluster import orders
from tests.cluster.checks import (
    AFTER_MS,
    HOSTS,
    batches,
    contiguous,
    executors,
    hosts,
    kept_its_pace,
    missing_samples,
)
from tests.cluster.watched import (
    PATIENCE_S,
    ROWS_JOB_ID,
    Watched,
    instrumented,
    now_ms,
    put_out,
    uninstrumented,
)
from tests.waiting import until

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.spark,
    pytest.mark.quiet,
    pytest.mark.timeout(1200),
]

START_MS = int(time.time() * 1000)
OUTAGE_BATCHES = 3
# More than the 20 s of windows that a collector makes up for.
PAUSE_MS = 24_500
MADE_UP_MS = 20_000
# More than the 30 s of parts that wait in an executor.
HOLD_MS = 32_000
WAITING_MS = 30_000


@pytest.fixture(scope="module")
def job(three_hosts: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    out = tmp_path_factory.mktemp("faults") / "instrumented"
    with redis_server() as redis, instrumented(three_hosts, redis, out, START_MS) as running:
        yield running


def test_all_three_hosts_are_in_the_frames(job: Watched) -> None:
    until(lambda: hosts(job.recent()) == HOSTS, PATIENCE_S)
    until(lambda: sum(frame.latency.count for frame in job.recent()) >= program.KEYS, PATIENCE_S)


def test_rows_and_records_in_frames_are_those_that_the_sink_holds(job: Watched) -> None:
    rows_in = orders.FILES * orders.ROWS_PER_FILE
    held = job.order("rows", orders.FILES)
    assert 0 < held["rows"] == held["distinct"] < rows_in
    until(lambda: rows_told(job) >= rows_in, PATIENCE_S)
    frames = job.frames(job_id=ROWS_JOB_ID)
    assert [batch.batch_id for batch in batches(frames)] == list(range(orders.FILES))
    assert sum(batch.rows_in for batch in batches(frames)) == rows_in
    # On a host that is out of breath some come too late for their window; then that is said.
    recorded = merged(frame.latency for frame in frames).count
    assert recorded <= held["rows"] <= recorded + frames[-1].health.lost_records


def test_a_killed_executor_is_replaced_in_the_frames_too(job: Watched) -> None:
    before = job.cluster.executors()
    assert len(before) == len(HOSTS)
    killed, pid = sorted(before.items())[0]
    os.kill(pid, signal.SIGKILL)
    until(lambda: executors(job.recent()) - before.keys(), PATIENCE_S)
    until(lambda: hosts(job.recent()) == HOSTS, PATIENCE_S)
    until(lambda: killed not in executors(job.recent()), PATIENCE_S)
    job.runs_on(2)
    assert contiguous(job.recent())


def test_frames_of_a_redis_that_was_killed_are_kept_and_sent(job: Watched) -> None:
    dropped = job.newest().health.dropped_frames
    os.kill(job.client.info("server")["process_id"], signal.SIGKILL)
    killed_ms = now_ms()
    job.redis.stop()
    job.runs_on(OUTAGE_BATCHES)
    job.redis.start()
    newest = job.newest()
    seen = job.frames(killed_ms, newest.start_ms)
    assert contiguous(seen)
    assert seen[0].start_ms <= killed_ms + 2 * WINDOW_MS
    assert newest.health.dropped_frames == dropped
    job.runs_on(1)


def test_frames_that_a_full_redis_refused_are_kept_and_sent(job: Watched) -> None:
    before = job.newest()
    limit = job.client.config_get("maxmemory")["maxmemory"] or 0
    job.client.config_set("maxmemory", 1)
    full_ms = now_ms()
    job.runs_on(OUTAGE_BATCHES)
    assert job.frames(full_ms + 2 * WINDOW_MS) == []
    job.client.config_set("maxmemory", limit)
    newest = job.newest()
    assert contiguous(job.frames(before.start_ms, newest.start_ms))
    assert newest.health.dropped_frames == before.health.dropped_frames
    job.runs_on(1)


def test_messages_that_are_no_messages_are_counted(job: Watched) -> None:
    before = job.newest().health.unreadable_messages
    # Each task sends four that are no parts, two of them not even bytes, with and without waiting
    # for an answer; and there are messages of no kind.
    assert job.order("corrupt", number=len(HOSTS)) == 4 * len(HOSTS)
    of_no_kind = job.order("garble", number=2)
    expected = before + 2 * 4 * len(HOSTS) + of_no_kind
    until(lambda: job.newest().health.unreadable_messages == expected, PATIENCE_S)
    job.runs_on(1)
    until(lambda: hosts(job.recent()) == HOSTS, PATIENCE_S)


def test_a_collector_that_stands_still_does_not_slow_the_job(job: Watched) -> None:
    before = job.newest()
    paused_ms = now_ms()
    with standing_still(job):
        assert all(name.startswith("curtail-") for name in job.order("threads", len(HOSTS)))
        until(lambda: now_ms() >= paused_ms + PAUSE_MS, timeout_s=PAUSE_MS / 500)
        assert job.frames(paused_ms + 2 * WINDOW_MS) == []
        resumed_ms = now_ms()
    job.runs_on(AFTER_MS // program.INTERVAL_MS)
    newest = job.newest()
    seen = job.frames(before.start_ms, newest.start_ms)
    # What is not made up for is one hole, and so many windows are counted as skipped.
    behind = next(at for at, frame in enumerate(seen) if frame.start_ms > paused_ms + WINDOW_MS * 4)
    assert contiguous(seen[:behind])
    assert contiguous(seen[behind:])
    # By its own clock when it went on, which may be a while later on a busy machine.
    made_up_ms = resumed_ms - seen[behind].start_ms
    assert MADE_UP_MS / 2 <= made_up_ms <= MADE_UP_MS + 1_000
    skipped = newest.window - before.window + 1 - len(seen)
    assert newest.sequence - before.sequence == newest.window - before.window
    assert newest.health.skipped_windows - before.health.skipped_windows == skipped > 0
    # Samples that came too late for their window are counted; the driver had room for all.
    late = newest.health.late_parts - before.health.late_parts
    assert 0 < missing_samples(seen) <= late + len(HOSTS)
    assert newest.health.lost_parts == before.health.lost_parts
    # Each batch puts out every key once, and each is in the frames or counted; at both ends one
    # batch is cut.
    during = [batch for batch in batches(seen) if batch.start_ms >= before.start_ms]
    records = merged(frame.latency for frame in seen).count
    lost = newest.health.lost_records - before.health.lost_records
    written = program.KEYS * len(during)
    assert records - 2 * program.KEYS <= written <= records + lost + 2 * program.KEYS
    kept_its_pace(batches(job.frames()), paused_ms, resumed_ms)


def test_parts_that_the_driver_does_not_take_are_dropped_by_executors_and_counted(
    job: Watched,
) -> None:
    before = job.newest()
    held_ms = now_ms()
    job.order("hold", HOLD_MS)
    until(lambda: not hosts(job.recent()), timeout_s=20)
    waiting = job.order("threads", len(HOSTS))
    assert "curtail-sender" in waiting
    assert all(name.startswith("curtail-") for name in waiting)
    until(lambda: hosts(job.recent()) == HOSTS, HOLD_MS / 1000 + PATIENCE_S)
    released_ms = now_ms()
    job.runs_on(AFTER_MS // program.INTERVAL_MS)
    newest = job.newest()
    seen = job.frames(before.start_ms, newest.start_ms)
    assert contiguous(seen)
    lost = newest.health.lost_parts - before.health.lost_parts
    late = newest.health.late_parts - before.health.late_parts
    # One more is on its way to the driver all the time. We see the end of it later than it is.
    least, most = ((ms - WAITING_MS) // WINDOW_MS - 1 for ms in (HOLD_MS, released_ms - held_ms))
    assert len(HOSTS) * least * 3 / 4 <= lost <= len(HOSTS) * most
    assert lost < missing_samples(seen) <= late + lost + len(HOSTS)
    kept_its_pace(batches(job.frames()), held_ms, min(released_ms, held_ms + HOLD_MS))


def test_no_batch_is_missing_from_the_frames_and_none_is_there_twice(job: Watched) -> None:
    # All since the Redis that was killed, which kept nothing.
    told = batches(job.frames())
    first, last = told[0].batch_id, told[-1].batch_id
    assert [batch.batch_id for batch in told] == list(range(first, last + 1))
    held = rows_held(job, last) - rows_held(job, first - 1)
    assert sum(batch.rows_in for batch in told) == held


def test_what_does_not_fit_into_the_drivers_queue_is_dropped_and_counted(job: Watched) -> None:
    before = job.newest().health
    with standing_still(job):
        job.order("flood", orders.FLOOD)
    job.runs_on(1)

    def accounted() -> bool:
        health = job.newest().health
        unread = health.unreadable_messages - before.unreadable_messages
        lost = health.lost_parts - before.lost_parts
        return lost > 0 and unread + lost >= orders.FLOOD

    until(accounted, PATIENCE_S)
    until(lambda: hosts(job.recent()) == HOSTS, PATIENCE_S)


def test_the_output_is_that_of_the_job_without_curtail(
    job: Watched, tmp_path_factory: pytest.TempPathFactory
) -> None:
    os.kill(job.running.pid, signal.SIGTERM)
    assert job.running.wait(PATIENCE_S) == 0, job.running.said(60)
    ours = put_out(job.out)
    out = tmp_path_factory.mktemp("faults") / "uninstrumented"
    theirs = uninstrumented(out, START_MS, len(ours))
    assert len(ours) > 0
    assert {batch: rows for batch, rows in theirs.items() if batch in ours} == ours


def rows_told(job: Watched) -> int:
    """By the frames of the second query."""
    return sum(batch.rows_in for batch in batches(job.frames(job_id=ROWS_JOB_ID)))


def rows_held(job: Watched, batch_id: int) -> int:
    """By the sink after this batch, which put out every key."""
    return sum(rows for _, rows, *_ in put_out(job.out)[batch_id])


@contextmanager
def standing_still(job: Watched) -> Iterator[None]:
    pid = job.collector_pid()
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)
