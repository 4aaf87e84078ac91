"""Clusters: their jobs, what these are worth now and over time, what was done, and their size."""

import json
import time
from typing import Any

import pytest
from django.test import Client

from collectors.formats.pulse import BIN_MS
from dashboard.fleet import jobs
from dashboard.models import AuditEntry, Job, Person, Role, Slo, Tag, TechniqueDecision
from dashboard.models.techniques import Stand, TechniqueSetting
from dashboard.slo import hours, objectives
from dashboard.slo.current import current
from dashboard.slo.evaluation import Outcome
from dashboard.steering import cluster_size, controllers
from techniques.slo.memory import Entry, Listed, Memory, Why
from techniques.slo.objective import Objective, as_data
from techniques.slo.states import State
from tests.dashboard.users import logged_in, person
from tests.factories import announcement, p99_objective

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("memory_store")]

CLUSTERS = "/api/v1/clusters"
PROD = f"{CLUSTERS}/prod"
MINUTE_MS = 60_000


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def objective(priority: float) -> Objective:
    return Objective(p99_objective(100.0).latency, priority=priority)


@pytest.fixture
def api() -> Client:
    """Three jobs of a cluster, two of them with an SLO, and one of another."""
    client = logged_in(person("olga", Role.OPERATOR))
    jobs.record([announcement(job_id=name) for name in ("a.high", "b.low", "c.none", "d.test")])
    for name, label in {
        "a.high": "prod",
        "b.low": "prod",
        "c.none": "prod",
        "d.test": "test",
    }.items():
        Tag.objects.create(job_id=name, name=f"cluster:{label}")
    objectives.put("a.high", objective(90), 0, "olga", "")
    objectives.put("b.low", objective(10), 0, "olga", "")
    return client


def measure(job_id: str, latency_ms: float, at_ms: int, met: bool = True) -> None:
    held = current()[job_id]
    utility = held.utility(latency_ms, None)
    Slo.objects.filter(job_id=job_id).update(
        judged_ms=at_ms, latency_ms=latency_ms, utility=utility
    )
    hours.write(job_id, [Outcome(at_ms, latency_ms, None, met, utility)])


def switch(mode: str, changed_ms: int, *job_ids: str) -> None:
    for job_id in job_ids:
        TechniqueSetting.objects.create(
            job_id=job_id, technique="slo", mode=mode, changed_ms=changed_ms, stand=Stand.ASKED
        )


def decide(job_id: str, at_ms: int, memory: Memory) -> None:
    TechniqueDecision.objects.create(
        job_id=job_id, technique="slo", at_ms=at_ms, reason="because", memory=memory.as_data()
    )


def entry(at_ms: int, what: str = "reconfiguration", *of: str) -> Entry:
    return Entry(at_ms, what, of or ("a.high",), f"{what} at {at_ms}", 55.0)


def put(api: Client, path: str, **body: Any) -> Any:
    return api.put(path, json.dumps(body), content_type="application/json")


def test_clusters_are_what_tags_make_with_their_utility(api: Client) -> None:
    bin_ms = now_ms() // BIN_MS * BIN_MS
    measure("a.high", 200.0, bin_ms, met=False)
    measure("b.low", 50.0, bin_ms)
    prod, test = api.get(CLUSTERS).json()["items"]
    assert prod == {
        "name": "prod",
        "mode": "off",
        "state": None,
        "size": None,
        # Half of 90, and all of 10.
        "utility": 55.0,
        "max_utility": 100.0,
        "jobs": 3,
        "with_slo": 2,
        "met": 1,
    }
    assert (test["name"], test["utility"], test["with_slo"]) == ("test", None, 0)


def test_a_cluster_shows_its_jobs_with_what_they_reach_and_their_budgets(api: Client) -> None:
    at_ms = now_ms() // BIN_MS * BIN_MS
    measure("a.high", 100.0, at_ms - BIN_MS)
    measure("a.high", 200.0, at_ms, met=False)
    body = api.get(PROD).json()
    high, low, none = body["jobs"]
    assert high == {
        "id": "a.high",
        "objective": _told(objective(90)),
        "version": 1,
        "latency_ms": 200.0,
        "juice": None,
        "utility": 45.0,
        "met": False,
        "budgets": {
            over: {"judged": 2, "missed": 1, "burn_rate": 50.0, "left": 0.0}
            for over in ("1h", "1d")
        },
        "blacklisted": None,
    }
    assert (low["utility"], low["met"], low["budgets"]["1h"]["judged"]) == (None, None, 0)
    assert (none["objective"], none["version"], none["utility"]) == (None, 0, None)
    assert (body["utility"], body["max_utility"]) == (45.0, 100.0)


def _told(each: Objective) -> dict[str, Any]:
    data: dict[str, Any] = as_data(each)
    data["latency"]["utility"]["points"] = []
    return data


def test_what_was_measured_minutes_ago_is_not_how_a_job_does_now(api: Client) -> None:
    measure("a.high", 100.0, now_ms() - 2 * MINUTE_MS)
    body = api.get(PROD).json()
    assert (body["jobs"][0]["utility"], body["utility"]) == (None, None)
    assert 90.0 in body["series"]["jobs"]["a.high"]


def test_a_job_that_ended_could_not_be_worth_anything_more(api: Client) -> None:
    jobs.record([announcement(job_id="b.low", heartbeat_ms=now_ms(), ended_ms=now_ms())])
    assert api.get(PROD).json()["max_utility"] == 90.0


def test_utility_over_time_is_the_total_of_what_is_known_beside_the_most_there_could_be(
    api: Client,
) -> None:
    at_ms = now_ms() // BIN_MS * BIN_MS - 5 * MINUTE_MS
    measure("a.high", 200.0, at_ms)
    measure("a.high", 100.0, at_ms + BIN_MS)
    measure("b.low", 100.0, at_ms + BIN_MS)
    series = api.get(PROD).json()["series"]
    assert (series["step_ms"], len(series["t"])) == (BIN_MS, 360)
    first = series["t"].index(at_ms - BIN_MS)
    assert series["total"][first - 1 : first + 3] == [None, 45.0, 100.0, None]
    assert series["max"][first - 1 : first + 3] == [None, 100.0, 100.0, None]
    assert sorted(series["jobs"]) == ["a.high", "b.low"]
    assert series["jobs"]["b.low"][first : first + 2] == [None, 10.0]


def test_in_longer_steps_a_dip_of_ten_seconds_is_still_seen(api: Client) -> None:
    at_ms = now_ms() // BIN_MS * BIN_MS - 60 * MINUTE_MS
    for bins in range(12):
        measure("a.high", 500.0 if bins == 7 else 100.0, at_ms + bins * BIN_MS)
    series = api.get(f"{PROD}?span_ms={hours.DAY_MS}").json()["series"]
    assert series["step_ms"] == 120_000
    assert len(series["t"]) <= 720
    assert min(each for each in series["jobs"]["a.high"] if each is not None) == 18.0
    assert min(each for each in series["total"] if each is not None) == 18.0


def test_the_state_of_the_machine_its_black_list_and_its_actions_come_from_its_memory(
    api: Client,
) -> None:
    start_ms = now_ms() - 30 * MINUTE_MS
    switch("act", start_ms, "a.high", "b.low")
    listed = {
        "b.low": Listed(now_ms() + MINUTE_MS, Why.MARGINAL),
        "a.high": Listed(now_ms() - MINUTE_MS, Why.FAILED),
    }
    log = tuple(entry(start_ms + at) for at in (1_000, 2_000))
    decide(
        "a.high",
        start_ms + 3_000,
        Memory(State.SETTLING, start_ms + 2_000, start_ms + 3_000, log=log),
    )
    # A round after that, what was remembered was written into the decision that stayed.
    newest = Memory(
        State.CONVERGED,
        start_ms + 4_000,
        seen_ms=start_ms + 5_000,
        blacklist=listed,
        log=(*log, entry(start_ms + 4_000, "reversion")),
    )
    decide("b.low", start_ms + 2_500, newest)
    body = api.get(PROD).json()
    assert (body["mode"], body["state"], body["since_ms"]) == ("act", "converged", start_ms + 4_000)
    assert [each["what"] for each in body["actions"]] == [
        "reversion",
        "reconfiguration",
        "reconfiguration",
    ]
    assert body["actions"][0] == {
        "at_ms": start_ms + 4_000,
        "what": "reversion",
        "jobs": ["a.high"],
        "says": f"reversion at {start_ms + 4_000}",
        "utility": 55.0,
    }
    assert [each["blacklisted"] for each in body["jobs"]] == [
        None,
        {"until_ms": listed["b.low"].until_ms, "why": "more resources hardly helped"},
        None,
    ]


def test_actions_that_the_newest_memory_has_no_room_for_are_in_earlier_ones(api: Client) -> None:
    start_ms = now_ms() - 50 * MINUTE_MS
    every = [entry(start_ms + at * MINUTE_MS) for at in range(40)]
    for last in range(1, 41):
        decide("a.high", every[last - 1].at_ms, Memory(log=tuple(every[:last])).noting())
    shown = api.get(PROD).json()["actions"]
    assert [each["at_ms"] for each in shown] == [each.at_ms for each in reversed(every)]
    # Those before the span are not told.
    shown = api.get(f"{PROD}?span_ms={20 * MINUTE_MS}").json()["actions"]
    assert len(shown) in (9, 10)


def test_what_was_decided_under_other_options_is_no_state_of_today(api: Client) -> None:
    decide(
        "a.high", now_ms() - MINUTE_MS, Memory(State.SETTLING, log=(entry(now_ms() - MINUTE_MS),))
    )
    assert api.get(PROD).json()["state"] is None
    switch("advise", now_ms(), "a.high")
    body = api.get(PROD).json()
    assert (body["mode"], body["state"], len(body["actions"])) == ("advise", None, 1)


def test_an_operator_sets_the_size_which_is_in_the_audit(api: Client) -> None:
    made = put(api, PROD, size=24, reason="three hosts of eight")
    assert (made.status_code, made.json()["size"]) == (200, 24)
    assert put(api, PROD, size=24).json()["size"] == 24
    assert api.get(PROD).json()["size"] == 24
    assert put(api, PROD, size=None).json()["size"] is None
    first, last = AuditEntry.objects.filter(action="cluster.sized").order_by("id")
    assert (first.who, first.subject, first.reason) == (
        "olga",
        "cluster:prod",
        "three hosts of eight",
    )
    assert [(each.before, each.after) for each in (first, last)] == [
        ({"size": None}, {"size": 24}),
        ({"size": 24}, {"size": None}),
    ]


def test_controllers_get_the_clusters_size_in_place_of_a_jobs_own(
    api: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, dict[str, Any]] = {"a.high": {"size": 4, "share": 1}, "b.low": {"share": 1}}
    monkeypatch.setattr(controllers, "given", lambda job_id: given[job_id])
    settings: Any = {"a.high": "a.high", "b.low": "b.low"}
    assert cluster_size.options("cluster:prod", settings) == given
    put(api, PROD, size=24)
    assert cluster_size.options("cluster:prod", settings) == {
        "a.high": {"size": 24, "share": 1},
        "b.low": {"share": 1},
    }


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"size": 0}, "size"),
        ({"size": 100_001}, "size"),
        ({"size": 2.5}, "size"),
        ({"size": "all"}, "size"),
        ({}, "size"),
        ({"size": 5, "reason": "x" * 501}, "reason"),
    ],
)
def test_a_size_that_makes_no_sense_is_400_and_names_the_field(
    api: Client, body: dict[str, Any], field: str
) -> None:
    response = put(api, PROD, **body)
    assert response.status_code == 400
    assert response.json()["faults"][0]["field"].startswith(field)


def test_a_label_nobody_has_is_404_and_a_span_out_of_bounds_400(api: Client) -> None:
    for answer in (api.get(f"{CLUSTERS}/nobody"), put(api, f"{CLUSTERS}/nobody", size=4)):
        assert answer.status_code == 404
        assert "cluster:nobody" in answer.json()["detail"]
    for span_ms in (0, 599_999, 86_400_001):
        response = api.get(f"{PROD}?span_ms={span_ms}")
        assert response.status_code == 400
        assert response.json()["faults"][0]["field"] == "span_ms"


def test_a_viewer_sees_clusters_and_may_not_size_them(api: Client, client: Client) -> None:
    Person.objects.update(role=Role.VIEWER)
    assert api.get(PROD).status_code == 200
    assert put(api, PROD, size=4).status_code == 403
    assert client.get(PROD).status_code == 401


@pytest.mark.parametrize("tags", [["cluster:a", "cluster:b"], ["cluster:"]])
def test_a_job_is_in_one_cluster_with_a_name_and_another_is_refused_with_the_field(
    api: Client, tags: list[str]
) -> None:
    response = put(api, "/api/v1/jobs/a.high/tags", tags=tags)
    assert response.status_code == 400
    fault = response.json()["faults"][0]
    assert fault["field"] == "tags"
    assert "cluster" in fault["detail"]
    assert [each.name for each in Job.objects.get(pk="a.high").tags.all()] == ["cluster:prod"]
