"""The four techniques on operator pools by API: switched, or refused with bound or reason."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from collectors.formats import control
from collectors.formats.asked import State
from dashboard.fleet import jobs
from dashboard.models import Job, Role, TechniqueSetting
from dashboard.steering.registered import registry
from dashboard.store.memory import MemoryStore
from techniques.model import Option, OptionKind
from techniques.orders import POOL, JobFacts, PoolFacts, Refused, dispatch
from techniques.registry import Registry
from tests.dashboard.api.test_techniques import logged_in, put
from tests.dashboard.steered_job import World
from tests.factories import ANNOUNCEMENT

pytestmark = pytest.mark.django_db(transaction=True)

NAMES = ("adaptive_timeout", "shared_queue", "latency_balancing", "largest_backlog")
TECHNIQUES = {name: Registry().techniques[name] for name in NAMES}
BOUNDED = [
    (name, option, bound)
    for name, technique in TECHNIQUES.items()
    for option in technique.options
    for bound in ("low", "high")
    if getattr(option, bound) is not None
]
CARDS = f"/api/v1/jobs/{ANNOUNCEMENT.job_id}/techniques"
every_technique = pytest.mark.parametrize("name", NAMES)


@pytest.fixture
def world(settings: Settings, transactional_db: None, memory_store: MemoryStore) -> Iterator[World]:
    settings.TECHNIQUES = ()
    registry.cache_clear()
    jobs.record([ANNOUNCEMENT])
    yield World(Job.objects.get(), memory_store)
    registry.cache_clear()


@pytest.fixture
def operator(world: World) -> Client:
    return logged_in("olga", Role.OPERATOR)


def card(client: Client, name: str) -> dict[str, Any]:
    items = client.get(CARDS).json()["items"]
    found: dict[str, Any] = next(each for each in items if each["name"] == name)
    return found


@every_technique
def test_it_is_switched_on_and_off_and_the_job_is_told(
    operator: Client, world: World, name: str
) -> None:
    response = put(operator, f"{CARDS}/{name}")
    assert response.status_code == 200
    assert (response.json()["mode"], response.json()["state"]) == ("act", "asked")
    assert control.decode(world.store.controls[ANNOUNCEMENT.job_id]).version == 1

    response = put(operator, f"{CARDS}/{name}", mode="off", version=1)
    assert (response.status_code, response.json()["mode"]) == (200, "off")
    assert control.decode(world.store.controls[ANNOUNCEMENT.job_id]).version == 2


@pytest.mark.parametrize(
    ("name", "option", "bound"), BOUNDED, ids=lambda each: getattr(each, "name", each)
)
def test_an_option_out_of_bounds_is_refused_with_the_bound(
    operator: Client, name: str, option: Option, bound: str
) -> None:
    limit: float = getattr(option, bound)
    beyond = limit + (1 if bound == "high" else -1)
    value = int(beyond) if option.kind is OptionKind.INT else beyond
    response = put(operator, f"{CARDS}/{name}", options={option.name: value})

    assert response.status_code == 400
    [fault] = response.json()["faults"]
    assert fault["field"] == f"options.{option.name}"
    assert f"at {'most' if bound == 'high' else 'least'} {limit:g}" in json.dumps(fault)
    assert not TechniqueSetting.objects.exists()


def decided(world: World, name: str) -> dict[str, Any]:
    """The settings of the controller's decision, once an operator has switched to act."""
    world.technique = name
    world.switch("act")
    world.pass_s(5)
    world.round()
    [settings] = world.decided()
    return settings


@every_technique
def test_a_job_without_a_pool_is_refused_with_the_line_of_code_that_would_change_that(
    operator: Client, world: World, name: str
) -> None:
    settings = decided(world, name)
    # As its driver does with the decision.
    with pytest.raises(Refused) as refused:
        registry().realizer(name).orders(settings, JobFacts("query", "run"))
    world.obey(State.REFUSED, str(refused.value))
    world.pass_s(5)
    world.round()

    found = card(operator, name)
    assert found["state"] == "refused"
    assert "pooled(" in found["because"]
    assert found["conditions"]["hold"] is False
    assert "pooled(" in found["conditions"]["why"]


@every_technique
def test_of_a_pool_it_claims_the_dispatch_because_each_works_alone(world: World, name: str) -> None:
    settings = decided(world, name)
    facts = JobFacts("query", "run", pools=(PoolFacts("scores", "node-a", ("score",), (0, 0)),))
    [order] = registry().realizer(name).orders(settings, facts)
    assert (order.lever, order.to.host, order.to.pool) == (POOL, "node-a", "scores")
    assert order.claims == (dispatch("node-a", "scores"),)
