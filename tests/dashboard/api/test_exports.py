import csv
import io
from collections.abc import Sequence
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.test import AsyncClient

from collectors.formats import keys
from collectors.formats.wire import ExecutorSample, OperatorState, encode
from dashboard.api.exports import PIECE_MS
from dashboard.fleet import jobs
from dashboard.store import Entry, StoreUnavailable
from dashboard.store.memory import MemoryStore
from tests.factories import ANNOUNCEMENT, START_MS, frame

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("memory_store")]

JOB = f"/api/v1/jobs/{ANNOUNCEMENT.job_id}"
FRAMES = keys.frames(ANNOUNCEMENT.job_id)
QUERY = f"start_ms={START_MS}&end_ms={START_MS + 15 * 60_000}"


@pytest.fixture
async def api() -> AsyncClient:
    client = AsyncClient()
    await sync_to_async(client.force_login)(await User.objects.acreate_user("eve"))
    await sync_to_async(jobs.record)([ANNOUNCEMENT])
    return client


def append(store: MemoryStore, at: int, *latencies_ms: int, **changes: Any) -> None:
    payload = encode(frame(at, latencies_ms, **changes))
    store.append(FRAMES, START_MS + 50 * at, payload)


async def text(response: Any) -> str:
    assert response.status_code == 200
    return b"".join([chunk async for chunk in response.streaming_content]).decode()


async def table(response: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(await text(response), newline="")))


async def test_a_distribution_is_that_of_the_whole_range(
    api: AsyncClient, memory_store: MemoryStore
) -> None:
    far = 2 * PIECE_MS // 50
    append(memory_store, 0, *range(1, 100))
    append(memory_store, far, 5_000)
    body = (await api.get(f"{JOB}/distribution?{QUERY}&which=processed")).json()
    assert (body["source"], body["count"]) == ("record", 100)
    assert body["p50"] == pytest.approx(50, rel=0.01)
    assert body["max"] == pytest.approx(5_000, rel=0.01)
    assert body["cdf"][0] == pytest.approx([1, 0.01], rel=0.01)
    assert body["cdf"][-1] == pytest.approx([5_000, 1], rel=0.01)


async def test_a_range_without_records_has_an_empty_distribution(api: AsyncClient) -> None:
    body = (await api.get(f"{JOB}/distribution?{QUERY}")).json()
    assert (body["source"], body["count"], body["p99"], body["cdf"]) == ("none", 0, None, [])


async def test_the_table_has_a_row_for_every_window_that_was_received(
    api: AsyncClient, memory_store: MemoryStore
) -> None:
    far = PIECE_MS // 50 + 3
    append(memory_store, 0, 10, executors=(ExecutorSample("1", "node-a", {1: 400}),))
    memory_store.append(FRAMES, START_MS + 50, b"garbage")
    append(memory_store, far, 20, state=(OperatorState(2, 1, 0, 3),))
    response = await api.get(f"{JOB}/windows.csv?{QUERY}")
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert response["Content-Disposition"] == (
        f'attachment; filename="orders.scored_{START_MS}_{START_MS + 15 * 60_000}.csv"'
    )
    first, last = await table(response)
    assert first["host_cpu_percent/node-a"] == "40.0"
    assert first["flushes/operator_2"] == ""
    assert last["start_epoch_ms"] == str(START_MS + 50 * far)
    assert last["flushes/operator_2"] == "1"


async def test_what_arrives_while_the_table_is_written_is_not_in_it(
    api: AsyncClient, memory_store: MemoryStore
) -> None:
    append(memory_store, 0, 10)
    response = await api.get(f"{JOB}/windows.csv?{QUERY}")
    append(memory_store, 1, 10, executors=(ExecutorSample("1", "node-b", {1: 400}),))
    assert len(await table(response)) == 1


async def test_a_range_without_windows_is_a_head_alone(api: AsyncClient) -> None:
    response = await api.get(f"{JOB}/windows.csv?{QUERY}")
    head = await text(response)
    assert head.startswith("time_utc,start_epoch_ms,")
    assert head.count("\n") == 1


async def test_a_store_that_goes_away_breaks_the_table_off_instead_of_ending_it(
    api: AsyncClient, memory_store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(memory_store, 0, 10)
    response = await api.get(f"{JOB}/windows.csv?{QUERY}")

    async def away(*_: object) -> Sequence[Entry]:
        raise StoreUnavailable("connection refused")

    monkeypatch.setattr(memory_store, "entries", away)
    with pytest.raises(StoreUnavailable):
        await table(response)
    assert (await api.get(f"{JOB}/windows.csv?{QUERY}")).status_code == 503
    assert (await api.get(f"{JOB}/distribution?{QUERY}")).status_code == 503


@pytest.mark.parametrize("what", ["windows.csv", "distribution"])
async def test_a_range_that_makes_no_sense_is_400_and_an_unknown_job_404(
    api: AsyncClient, what: str
) -> None:
    for query in ("start_ms=0&end_ms=900001", "start_ms=5&end_ms=5", "start_ms=soon&end_ms=9"):
        assert (await api.get(f"{JOB}/{what}?{query}")).status_code == 400
    assert (await api.get(f"/api/v1/jobs/nobody/{what}?{QUERY}")).status_code == 404
    assert (await AsyncClient().get(f"{JOB}/{what}?{QUERY}")).status_code == 401


async def test_a_moment_that_there_is_not_is_400(api: AsyncClient) -> None:
    assert (await api.get(f"{JOB}/distribution?{QUERY}&which=someday")).status_code == 400
