"""What goes wrong around a job on three hosts: it never notices, and what was lost is said.

One job runs through all of them, one after another; in the end its output is compared, batch by
batch, with that of the same job without Curtail.
"""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median

import pytest

from collectors.wire import WINDOW_MS, ExecutorSample, Frame
from dashboard.testing.cluster import Cluster, cluster
from dashboard.testing.stack import redis_server
from tests.cluster import job as program
from tests.cluster.watched import Watched, instrumented, now_ms, uninstrumented
from tests.waiting import until

pytestmark = [pytest.mark.cluster, pytest.mark.spark]

HOSTS = {"127.0.0.2", "127.0.0.3", "127.0.0.4"}
START_MS = int(time.time() * 1000)
# Shorter than what a collector makes up for, 20 s.
PAUSE_MS = 10_000
OUTAGE_BATCHES = 6
# Two cores for three executors, a driver and whatever else runs here.
NOISE_RATIO, NOISE_MS = 2.0, 150


@pytest.fixture(scope="module")
def three_hosts() -> Iterator[Cluster]:
    with cluster(workers=3) as running:
        yield running


@pytest.fixture(scope="module")
def job(three_hosts: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    out = tmp_path_factory.mktemp("faults") / "instrumented"
    with redis_server() as redis, instrumented(three_hosts, redis, out, START_MS) as running:
        yield running


def test_all_three_hosts_are_in_the_frames(job: Watched) -> None:
    until(lambda: hosts(job.recent()) == HOSTS, timeout_s=30)
    until(lambda: sum(frame.latency.count for frame in job.recent()) >= program.KEYS)


def test_a_killed_executor_is_replaced_in_the_frames_too(job: Watched) -> None:
    before = job.cluster.executors()
    assert len(before) == len(HOSTS)
    killed, pid = sorted(before.items())[0]
    os.kill(pid, signal.SIGKILL)
    until(lambda: executors(job.recent()) - before.keys(), timeout_s=60)
    until(lambda: hosts(job.recent()) == HOSTS, timeout_s=30)
    assert killed not in executors(job.recent())
    job.runs_on(4)
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
    job.runs_on(2)


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
    job.runs_on(2)


def test_a_collector_that_stands_still_does_not_slow_the_job(job: Watched) -> None:
    job.runs_on(6)
    before = job.newest()
    paused_ms = now_ms()
    with standing_still(job):
        job.runs_on(PAUSE_MS // program.INTERVAL_MS // 4)
        until(lambda: now_ms() >= paused_ms + PAUSE_MS, timeout_s=PAUSE_MS / 500)
        assert job.frames(paused_ms + 2 * WINDOW_MS) == []
        resumed_ms = now_ms()
    job.runs_on(4)
    newest = job.newest()
    seen = job.frames(before.start_ms, newest.start_ms)
    assert contiguous(seen)
    # Samples that came too late for their window are counted instead; facts of a batch still come.
    missing = sum(len(HOSTS) - len(samples([frame])) for frame in seen)
    assert missing <= newest.health.late_parts - before.health.late_parts + len(HOSTS)
    assert newest.health.lost_parts == before.health.lost_parts
    batches = [batch for frame in job.frames(paused_ms - 10_000) for batch in frame.batches]
    ids = [batch.batch_id for batch in batches]
    assert ids == list(range(ids[0], ids[0] + len(ids)))
    during = [b.duration_ms for b in batches if paused_ms <= b.start_ms and b.end_ms <= resumed_ms]
    others = [b.duration_ms for b in batches if b.end_ms < paused_ms]
    assert median(during) <= NOISE_RATIO * median(others) + NOISE_MS


def test_messages_that_are_no_messages_are_counted(job: Watched) -> None:
    before = job.newest().health.unreadable_messages
    os.kill(job.running.pid, signal.SIGUSR1)
    # Two payloads that are no part, three that are not even bytes, two kinds that there are not.
    until(lambda: job.newest().health.unreadable_messages == before + 7, timeout_s=20)
    job.runs_on(2)
    assert hosts(job.recent()) == HOSTS


def test_what_does_not_fit_into_the_drivers_queue_is_dropped_and_counted(job: Watched) -> None:
    before = job.newest().health
    with standing_still(job):
        os.kill(job.running.pid, signal.SIGUSR2)
        until((job.out / "flooded.json").exists, timeout_s=30)
    job.runs_on(2)

    def accounted() -> bool:
        health = job.newest().health
        unread = health.unreadable_messages - before.unreadable_messages
        lost = health.lost_parts - before.lost_parts
        return lost > 0 and unread + lost >= program.FLOOD

    until(accounted, timeout_s=20)
    until(lambda: hosts(job.recent()) == HOSTS, timeout_s=20)


def test_the_output_is_that_of_the_job_without_curtail(
    job: Watched, tmp_path_factory: pytest.TempPathFactory
) -> None:
    os.kill(job.running.pid, signal.SIGTERM)
    assert job.running.wait(timeout_s=30) == 0, job.running.said(60)
    ours = job.batches()
    out = tmp_path_factory.mktemp("faults") / "uninstrumented"
    theirs = Watched(
        job.cluster, job.redis, job.running, uninstrumented(job.cluster, out, START_MS, len(ours))
    ).batches()
    assert len(ours) > 0
    assert {name: rows for name, rows in theirs.items() if name in ours} == ours


@contextmanager
def standing_still(job: Watched) -> Iterator[None]:
    pid = job.collector_pid()
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def samples(frames: list[Frame]) -> list[ExecutorSample]:
    """Of executors alone: the driver may be measured as well."""
    return [sample for frame in frames for sample in frame.executors if sample.host in HOSTS]


def hosts(frames: list[Frame]) -> set[str]:
    return {sample.host for sample in samples(frames)}


def executors(frames: list[Frame]) -> set[str]:
    return {sample.executor_id for sample in samples(frames)}


def contiguous(frames: list[Frame]) -> bool:
    """Neither a window nor a number is missing."""
    first = frames[0]
    return [(frame.window, frame.sequence) for frame in frames] == [
        (first.window + at, first.sequence + at) for at in range(len(frames))
    ]
