"""Which cards the worker computes, and when."""

import pytest
from asgiref.sync import async_to_sync

from collectors.formats import keys, wire
from collectors.formats.keys import Stream
from dashboard.fleet import jobs
from dashboard.models import Job
from dashboard.steering import card_rounds, computed
from dashboard.store import Entry
from dashboard.store.memory import MemoryStore
from tests.dashboard.steered_job import JOB, World
from tests.factories import START_MS, announcement, frame

pytestmark = pytest.mark.django_db(transaction=True)


def computed_ms(world: World, job_id: str = JOB) -> int | None:
    return computed.decode(async_to_sync(world.store.cards)(job_id)).computed_ms


def test_nobody_looks_and_nothing_is_asked_so_nothing_is_computed(world: World) -> None:
    world.pass_s(1)
    world.round()

    assert computed_ms(world) is None


def test_cards_that_somebody_looks_at_are_computed_at_once_and_every_five_seconds(
    world: World,
) -> None:
    world.card()
    seen = []
    for _ in range(12):
        world.pass_s(1)
        world.round()
        seen.append(((computed_ms(world) or 0) - START_MS) // 1000)

    assert seen == [1, 1, 1, 1, 1, 6, 6, 6, 6, 6, 11, 11]


def test_a_new_decision_is_on_the_card_in_the_round_that_made_it(world: World) -> None:
    world.card()
    world.pass_s(1)
    world.round()
    world.switch("advise")
    world.pass_s(1)
    world.round()

    assert computed_ms(world) == world.now_ms
    assert world.card()["decision"]["reason"] == "says hello"


def test_when_time_is_short_the_rest_comes_next(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(card_rounds, "ROUND_S", -1.0)
    jobs.record([announcement(job_id="orders.other", query="other")])
    world.card()
    async_to_sync(computed.told)(world.store, "orders.other")
    times = []
    for _ in range(2):
        world.pass_s(1)
        sent = frame(world.sent, (100,))
        world.store.append(keys.frames("orders.other"), sent.start_ms, wire.encode(sent))
        world.round()
        times.append([computed_ms(world, job_id) is not None for job_id in (JOB, "orders.other")])

    assert [sum(known) for known in times] == [1, 2]


def test_an_effect_is_not_shown_on_the_card_of_another_setting(world: World) -> None:
    world.pass_s(60, latency_ms=100)
    world.switch("act")
    world.pass_s(1)
    world.round()
    world.obey()
    world.pass_s(1)
    world.round()
    world.pass_s(60, latency_ms=25)
    assert world.looked_at()["effect"]

    world.switch("advise", version=1)
    assert world.card()["effect"] is None


class Counting(MemoryStore):
    """Counts the entries of ranges that were read."""

    read = 0

    async def entries(self, stream: Stream, start_ms: int, end_ms: int) -> list[Entry]:
        found = list(await super().entries(stream, start_ms, end_ms))
        self.read += len(found)
        return found


@pytest.fixture
def counted(transactional_db: None, echo: None) -> World:
    jobs.record([announcement(job_id=JOB)])
    return World(Job.objects.get(), Counting())


def test_an_effect_reads_every_frame_once(counted: World) -> None:
    counted.pass_s(60)
    counted.switch("act")
    counted.pass_s(1)
    counted.round()
    counted.obey()
    counted.pass_s(1)
    counted.round()
    assert isinstance(counted.store, Counting)
    counted.store.read = 0
    for _ in range(120):
        counted.pass_s(1)
        counted.round()

    # Two minutes of twenty windows a second, less what is not over yet.
    assert counted.store.read <= 120 * 20
