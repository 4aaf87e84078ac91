"""The technique `slo` on two jobs of a cluster: from frames and SLOs to what the API tells."""

import json
import time

import pytest

from collectors.formats import keys, wire
from collectors.formats.wire import WINDOW_MS
from dashboard.fleet import jobs
from dashboard.models import Job, Role, Tag, TechniqueDecision
from dashboard.slo import objectives
from dashboard.slo.current import current
from dashboard.steering import switches
from dashboard.steering.rounds import Steering
from dashboard.steering.switches import Switch
from dashboard.store.memory import MemoryStore
from dashboard.worker.histories import Histories
from dashboard.worker.job_leases import Leases
from techniques.model import Mode
from techniques.slo.memory import Memory
from tests.dashboard.users import logged_in, person
from tests.factories import START_MS, announcement, frame, p99_objective

pytestmark = pytest.mark.django_db(transaction=True)

NAMES = ("shop.orders", "shop.prices")
SECONDS = 50


def test_the_state_machine_decides_for_the_cluster_with_its_size_and_the_api_tells_it(
    memory_store: MemoryStore,
) -> None:
    api = logged_in(person("olga", Role.OPERATOR))
    # Decisions are of the time of the windows, which the API compares with its own.
    begin_ms = time.time_ns() // 1_000_000 // WINDOW_MS * WINDOW_MS - SECONDS * 1000
    first = (begin_ms - START_MS) // WINDOW_MS
    jobs.record([announcement(job_id=name) for name in NAMES])
    for name in NAMES:
        Tag.objects.create(job_id=name, name="cluster:shop")
        objectives.put(name, p99_objective(50.0), 0, "olga", "")
        asked = Switch(Mode.ACT, {}, "", 0)
        switches.switch(Job.objects.get(pk=name), "slo", asked, "olga", begin_ms)
    sized = api.put(
        "/api/v1/clusters/shop", json.dumps({"size": 7}), content_type="application/json"
    )
    assert sized.json()["size"] == 7

    steering = Steering(Leases("a worker", 600_000), Histories(objectives=current))
    for at in range(SECONDS * 20):
        for name, latency_ms in zip(NAMES, (10, 100), strict=True):
            sent = frame(first + at, (latency_ms,))
            memory_store.append(keys.frames(name), sent.start_ms, wire.encode(sent))
        if at % 100 == 99:
            steering.round(memory_store, begin_ms + (at + 1) * WINDOW_MS)

    assert not any(steering.failures.latest(name) for name in NAMES)
    held = [Memory.of(each.memory) for each in TechniqueDecision.objects.all() if each.memory]
    assert {each.size for each in held} == {7}
    body = api.get("/api/v1/clusters/shop").json()
    newest = max(held, key=lambda each: each.seen_ms)
    assert (body["mode"], body["size"], body["state"]) == ("act", 7, newest.state)
    assert body["state"] != "starting"
    # Nothing can be given to the one that misses its SLO: it is left alone for a while.
    assert [each["id"] for each in body["jobs"] if each["blacklisted"]] == ["shop.prices"]
    assert body["actions"]
    # What is remembered from round to round makes no decision of its own.
    assert TechniqueDecision.objects.count() <= 4 * len(NAMES)
