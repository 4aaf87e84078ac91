"""One controller for all jobs of a label, with two jobs and the worker's rounds by hand."""

from collections.abc import Iterator, Mapping

import pytest
from pytest_django.fixtures import Settings

from collectors.formats import control, keys, wire
from collectors.formats.control import Wanted
from collectors.formats.wire import WINDOW_MS
from dashboard.models import ClusterLease, Job, Tag, TechniqueDecision
from dashboard.steering import documents, switches
from dashboard.steering.registered import registry
from dashboard.steering.switches import Switch
from dashboard.store.memory import MemoryStore
from techniques.model import Decision, Mode
from tests.dashboard.steered_job import worker
from tests.factories import START_MS, frame
from tests.techniques.cluster_share import controller

pytestmark = pytest.mark.django_db(transaction=True)

NAME = "cluster_share"
LEASE_MS = 5_000


class Fleet:
    """Jobs that send windows, and the worker that they belong to."""

    def __init__(self, store: MemoryStore, *job_ids: str) -> None:
        self.store = store
        self.now_ms = START_MS
        self.running = list(job_ids)
        self.steering = worker()
        self._sent = 0
        for job_id in job_ids:
            job = Job.objects.create(
                id=job_id, application="shop", query=job_id, first_seen_ms=1, last_seen_ms=1
            )
            switches.switch(job, NAME, Switch(Mode.ACT, {}, "", 0), "olga", self.now_ms)

    def pass_s(self, seconds: int) -> None:
        """A round every second, as the worker has it."""
        for _ in range(seconds):
            self.now_ms += 1_000
            until = (self.now_ms - START_MS) // WINDOW_MS
            for at in range(self._sent, until):
                for job_id in self.running:
                    sent = frame(at, (100,))
                    self.store.append(keys.frames(job_id), sent.start_ms, wire.encode(sent))
            self._sent = until
            self.steering.round(self.store, self.now_ms)

    def wanted(self, job_id: str) -> Wanted:
        return control.decode(self.store.controls[job_id]).techniques[NAME]


@pytest.fixture
def fleet(memory_store: MemoryStore, settings: Settings) -> Iterator[Fleet]:
    settings.TECHNIQUES = (f"tests.techniques.{NAME}",)
    registry.cache_clear()
    found = Fleet(memory_store, "shop.orders", "shop.prices")
    yield found
    registry.cache_clear()


def label(*job_ids: str) -> None:
    Tag.objects.bulk_create(Tag(job_id=job_id, name="cluster:shop") for job_id in job_ids)


def test_all_jobs_of_a_label_are_decided_on_together(fleet: Fleet) -> None:
    label("shop.orders", "shop.prices")
    fleet.pass_s(2)

    for job_id in fleet.running:
        wanted = fleet.wanted(job_id)
        assert (wanted.mode, wanted.settings) == ("act", {"word": "share", "share": 0.5})
    reasons = set(TechniqueDecision.objects.values_list("reason", flat=True))
    assert reasons == {"50% each of shop.orders, shop.prices"}


def test_a_job_without_a_label_is_a_cluster_of_its_own(fleet: Fleet) -> None:
    fleet.pass_s(2)

    assert [fleet.wanted(job_id).settings["share"] for job_id in fleet.running] == [1.0, 1.0]


def test_a_job_that_does_not_run_has_no_part_in_the_decision(fleet: Fleet) -> None:
    label("shop.orders", "shop.prices")
    fleet.running.remove("shop.prices")
    fleet.pass_s(2)

    assert fleet.wanted("shop.orders").settings["share"] == 1.0
    assert fleet.wanted("shop.prices").mode == "advise"


def test_without_its_lease_no_job_of_the_cluster_holds_its_part(fleet: Fleet) -> None:
    label("shop.orders", "shop.prices")
    fleet.pass_s(2)
    renewed_ms = ClusterLease.objects.get(technique=NAME, label="cluster:shop").renewed_ms

    for job_id in fleet.running:
        held = documents.document(job_id, renewed_ms + LEASE_MS).techniques[NAME]
        over = documents.document(job_id, renewed_ms + LEASE_MS + 1).techniques[NAME]
        assert (held.mode, over.mode) == ("act", "advise")


@pytest.mark.parametrize(
    "decided",
    [
        {"another.job": Decision({"word": "x", "share": 1.0}, "not asked")},
        {
            "shop.orders": Decision({"word": "x", "share": 0.1}, "fits"),
            "shop.prices": Decision({"word": "x", "share": 7}, "does not fit"),
        },
    ],
)
def test_a_decision_that_does_not_fit_is_written_for_no_job_and_renews_nothing(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch, decided: Mapping[str, Decision]
) -> None:
    label("shop.orders", "shop.prices")
    monkeypatch.setattr(controller, "decide_all", lambda _views, _options, _past: decided)
    fleet.pass_s(2)

    assert not TechniqueDecision.objects.exists()
    assert not ClusterLease.objects.exists()
    assert all(fleet.steering.failures.latest(job_id) for job_id in fleet.running)
    assert fleet.wanted("shop.orders").mode == "advise"
