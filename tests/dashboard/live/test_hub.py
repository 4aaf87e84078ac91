import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from collectors.formats import activity, keys
from collectors.formats.asked import Applied, Asked, State
from collectors.formats.keys import Stream
from collectors.formats.wire import encode
from dashboard.live.hub import QUEUED_BATCHES, Hub, Subscription
from dashboard.store import Entry, Store, StoreUnavailable
from dashboard.store.memory import MemoryStore
from tests.factories import ACTIVITIES, START_MS, frame

JOB = "orders.scored"


def append(store: MemoryStore, at: int, payload: bytes | None = None) -> None:
    store.append(keys.frames(JOB), START_MS + 50 * at, payload or encode(frame(at, (10,))))


async def received(subscription: Subscription) -> dict[str, Any]:
    message: dict[str, Any] = json.loads(await asyncio.wait_for(subscription.next(), timeout=30))
    return message


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


async def test_a_browser_gets_what_comes_after_it_arrived(store: MemoryStore) -> None:
    append(store, 0)
    subscription = await Hub(store).subscribe(JOB)
    append(store, 1)
    batch = await received(subscription)
    assert batch["type"] == "windows"
    assert batch["t"] == [START_MS + 50]
    assert batch["seq"] == subscription.seq + 1


async def test_batches_are_numbered_without_holes(store: MemoryStore) -> None:
    subscription = await Hub(store).subscribe(JOB)
    for at in range(3):
        append(store, at)
        assert (await received(subscription))["seq"] == at + 1


async def test_many_browsers_cost_one_read(store: MemoryStore) -> None:
    hub = Hub(store)
    subscriptions = [await hub.subscribe(JOB) for _ in range(50)]
    append(store, 0)
    batches = [await received(subscription) for subscription in subscriptions]
    assert hub.reads == 1
    assert all(batch == batches[0] for batch in batches)


async def test_one_who_comes_later_joins_the_numbering(store: MemoryStore) -> None:
    hub = Hub(store)
    first = await hub.subscribe(JOB)
    append(store, 0)
    await received(first)
    second = await hub.subscribe(JOB)
    append(store, 1)
    assert (await received(second))["seq"] == second.seq + 1 == 2


async def test_a_slow_browser_is_told_how_much_it_missed() -> None:
    subscription = Subscription(seq=0)
    for number in range(QUEUED_BATCHES + 3):
        subscription.offer(json.dumps({"seq": number + 1}))
    assert await received(subscription) == {"type": "behind", "skipped": QUEUED_BATCHES}
    assert (await received(subscription))["seq"] == QUEUED_BATCHES + 1


async def test_reading_stops_when_the_last_browser_leaves(store: MemoryStore) -> None:
    hub = Hub(store)
    subscription = await hub.subscribe(JOB)
    append(store, 0)
    await received(subscription)
    hub.unsubscribe(JOB, subscription)
    task = hub._task
    assert task
    await asyncio.wait_for(task, timeout=30)
    assert not hub._watched


async def test_garbage_in_the_stream_is_counted_and_the_page_goes_on(
    store: MemoryStore,
) -> None:
    subscription = await Hub(store).subscribe(JOB)
    append(store, 0, b"garbage")
    append(store, 1, b"\xc7\x09 of a version to come")
    append(store, 2)
    batch = await received(subscription)
    assert batch["collector"]["unreadable"] == 2
    assert batch["t"] == [START_MS + 100]


async def test_what_ended_comes_with_the_windows(store: MemoryStore) -> None:
    subscription = await Hub(store).subscribe(JOB)
    store.append(keys.activities(JOB), START_MS, activity.encode(ACTIVITIES))
    append(store, 0)
    kinds: list[str] = []
    while len(kinds) < 2:
        kinds += [each["kind"] for each in (await received(subscription))["activities"]]
    assert kinds == ["compaction", "gc"]


async def test_the_newest_windows_word_on_techniques_comes_with_its_batch(
    store: MemoryStore,
) -> None:
    subscription = await Hub(store).subscribe(JOB)
    held = Applied("echo", "act", State.APPLIED, 2)
    append(store, 0, encode(frame(0, (10,), asked=Asked(1, True))))
    append(store, 1, encode(frame(1, (10,), asked=Asked(2, True, (held,)))))
    told = (await received(subscription))["asked"]
    assert (told["version"], told["techniques"]["echo"]["state"]) == (2, "applied")


async def test_a_batch_of_activities_alone_says_nothing_of_techniques(store: MemoryStore) -> None:
    subscription = await Hub(store).subscribe(JOB)
    store.append(keys.activities(JOB), START_MS, activity.encode(ACTIVITIES))
    assert "asked" not in await received(subscription)
    append(store, 0)
    assert (await received(subscription))["asked"] is None


async def test_cards_come_at_first_and_when_they_changed(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dashboard.live.hub.CARDS_EVERY_S", 0.01)
    made = ["one"]

    async def text(_: Store, job_id: str) -> str:
        return json.dumps({"type": "cards", "items": [job_id, made[-1]]})

    hub = Hub(store, text)
    subscription = await hub.subscribe(JOB)
    assert (await received(subscription))["items"] == [JOB, "one"]
    made.append("two")
    assert (await received(subscription))["items"] == [JOB, "two"]
    other = await hub.subscribe(JOB)
    assert (await received(other))["items"] == [JOB, "two"]


async def test_cards_that_a_browser_has_do_not_come_again() -> None:
    subscription = Subscription(seq=0)
    for text in ("cards", "cards", "other cards"):
        subscription.offer_cards(text)
    subscription.offer("windows")
    assert [await subscription.next() for _ in range(3)] == ["cards", "other cards", "windows"]


async def test_cards_that_cannot_be_told_keep_no_windows_from_coming(store: MemoryStore) -> None:
    async def broken(_: Store, job_id: str) -> str:
        raise ValueError(job_id)

    subscription = await Hub(store, broken).subscribe(JOB)
    append(store, 0)
    assert (await received(subscription))["type"] == "windows"


async def test_cards_lost_by_a_slow_browser_come_again() -> None:
    subscription = Subscription(seq=0)
    subscription.offer_cards("cards")
    for _ in range(QUEUED_BATCHES):
        subscription.offer("windows")
    subscription.offer_cards("cards")
    assert await received(subscription) == {"type": "behind", "skipped": QUEUED_BATCHES}
    assert [await subscription.next() for _ in range(2)] == ["windows", "cards"]


class FlakyStore(MemoryStore):
    times_away = 2

    async def follow(
        self, after_ms: Mapping[Stream, int], wait_ms: int
    ) -> Mapping[Stream, Sequence[Entry]]:
        if self.times_away:
            self.times_away -= 1
            raise StoreUnavailable("away")
        return await super().follow(after_ms, wait_ms)


async def test_the_feed_survives_a_store_that_goes_away() -> None:
    store = FlakyStore()
    subscription = await Hub(store).subscribe(JOB)
    append(store, 0)
    assert (await received(subscription))["t"] == [START_MS]
