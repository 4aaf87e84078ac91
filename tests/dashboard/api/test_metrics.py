import gzip
import time
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from collectors.formats import keys
from collectors.formats.lag import Basis, Lag
from collectors.formats.wire import WINDOW_MS, ExecutorSample, encode
from dashboard.store import StoreUnavailable
from dashboard.store.memory import MemoryStore
from tests.factories import PULSE, announcement, frame

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("memory_store")]

BOTH = pytest.mark.parametrize("path", ["/metrics", "/api/v1/metrics"])


@pytest.fixture
def scraper(client: Client) -> Client:
    client.force_login(User.objects.create_user("eve"))
    return client


def samples(text: bytes) -> Iterator[Sample]:
    for family in text_string_to_metric_families(text.decode()):
        yield from family.samples


def running(store: MemoryStore) -> None:
    """A job that was heard of just now, and its newest frame."""
    now_ms = time.time_ns() // 1_000_000
    job = announcement(heartbeat_ms=now_ms, pulse=PULSE)
    store.announce(job)
    second = frame(window=now_ms // 1000 * 1000 // WINDOW_MS, lag=Lag(1_500, Basis.OFFSETS, 1))
    newest = frame(executors=(ExecutorSample("1", "node-a", {1: 250}),), window=second.window + 7)
    for each in (second, newest):
        store.append(keys.frames(job.job_id), each.start_ms, encode(each))


@BOTH
def test_jobs_are_told_in_prometheuss_format(
    scraper: Client, memory_store: MemoryStore, path: str
) -> None:
    running(memory_store)
    response = scraper.get(path)
    assert response.status_code == 200
    assert response["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    told = {sample.name: sample for sample in samples(response.content)}
    assert told["curtail_job_up"].value == 1
    assert told["curtail_rows_total"].value == PULSE.rows_in
    assert told["curtail_executor_host_cpu_ratio"].value == 0.25
    assert told["curtail_executor_host_cpu_ratio"].labels["host"] == "node-a"
    assert told["curtail_lag_seconds"].value == 1.5


def test_a_newest_frame_that_cannot_be_read_costs_only_its_own_numbers(
    scraper: Client, memory_store: MemoryStore
) -> None:
    running(memory_store)
    memory_store.append(keys.frames("orders.scored"), time.time_ns() // 1_000_000 + 999, b"garbage")
    told = {sample.name for sample in samples(scraper.get("/metrics").content)}
    assert "curtail_rows_total" in told
    assert "curtail_executor_host_cpu_ratio" not in told


def test_whoever_can_unzip_gets_it_zipped(scraper: Client, memory_store: MemoryStore) -> None:
    running(memory_store)
    response = scraper.get("/metrics", headers={"accept-encoding": "gzip"})
    assert response["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in response["Vary"]
    assert {sample.name for sample in samples(gzip.decompress(response.content))} == {
        sample.name for sample in samples(scraper.get("/metrics").content)
    }


@BOTH
def test_without_a_login_there_is_only_401(client: Client, path: str) -> None:
    response = client.get(path)
    assert response.status_code == 401
    assert response["Content-Type"] == "application/problem+json"


def test_it_is_only_for_reading(scraper: Client) -> None:
    assert scraper.post("/metrics").status_code == 405


@pytest.mark.parametrize("call", ["announcements", "newest", "at"])
def test_while_redis_is_away_there_are_no_numbers_at_all(
    scraper: Client, memory_store: MemoryStore, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    async def away(*_: object) -> None:
        raise StoreUnavailable("connection refused")

    running(memory_store)
    monkeypatch.setattr(memory_store, call, away)
    response = scraper.get("/metrics")
    assert response.status_code == 503
    assert response["Content-Type"] == "application/problem+json"
