import json
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.test import Client
from kombu.exceptions import OperationalError

from collectors.formats import control
from dashboard import tasks
from dashboard.celery_app import app, to_every_worker
from dashboard.live import card_texts
from dashboard.models import AuditEntry, Person, Role, TechniqueSetting
from dashboard.steering import controllers
from dashboard.store import StoreUnavailable
from dashboard.store.memory import MemoryStore
from tests.dashboard.steered_job import World
from tests.factories import ANNOUNCEMENT

pytestmark = pytest.mark.django_db(transaction=True)

CARDS = f"/api/v1/jobs/{ANNOUNCEMENT.job_id}/techniques"
ECHO = f"{CARDS}/echo"


def logged_in(name: str, role: Role) -> Client:
    user = User.objects.create_user(name)
    Person.objects.create(user=user, role=role)
    client = Client()
    client.force_login(user)
    return client


def put(client: Client, path: str = ECHO, **body: Any) -> Any:
    asked = {"mode": "act", "reason": "the tail", "version": 0, **body}
    return client.put(path, json.dumps(asked), content_type="application/json")


def card_of(client: Client, name: str) -> Any:
    items = client.get(CARDS).json()["items"]
    return next(card for card in items if card["name"] == name)


@pytest.fixture
def operator(world: World) -> Client:
    return logged_in("olga", Role.OPERATOR)


def test_a_card_says_what_the_technique_does_and_that_it_is_off(operator: Client) -> None:
    items = operator.get(CARDS).json()["items"]
    names = [card["name"] for card in items]
    assert {"echo", "shadowsync"} < set(names)
    titles = [card["title"] for card in items]
    assert titles == sorted(titles)
    card = items[names.index("echo")]

    assert (card["name"], card["title"], card["mode"], card["state"]) == (
        "echo",
        "Echo",
        "off",
        "off",
    )
    assert card["conditions"] == {
        "hold": None,
        "why": "the worker has not looked at this job yet",
        "first": None,
    }
    assert (card["computed_ms"], card["version"], card["document_version"]) == (None, 0, 0)
    assert [option["name"] for option in card["options"]] == ["word", "refuse", "times"]
    assert card["options"][2]["high"] == 3


def test_asking_for_cards_makes_the_worker_compute_them(operator: Client, world: World) -> None:
    operator.get(CARDS)
    world.pass_s(1)
    world.round()

    card = card_of(operator, "echo")
    assert card["conditions"] == {
        "hold": True,
        "why": "the job sends windows",
        "first": None,
    }
    assert card["computed_ms"] == world.now_ms


def test_pages_are_sent_the_cards_that_the_api_answers(operator: Client, world: World) -> None:
    put(operator, options={"times": 2})
    world.pass_s(1)
    world.round()

    sent = json.loads(async_to_sync(card_texts.text)(world.store, world.job.pk))
    assert sent == {"type": "cards", **operator.get(CARDS).json()}


def test_the_server_itself_asks_no_controller(
    operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked(*_: object) -> None:
        raise AssertionError("a controller ran in the server")

    monkeypatch.setattr(controllers, "conditions", asked)
    monkeypatch.setattr(controllers, "figure", asked)

    assert operator.get(CARDS).status_code == 200
    assert put(operator).status_code == 200


def test_cards_come_from_the_database_while_redis_is_away(
    operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: object) -> None:
        raise StoreUnavailable("away")

    monkeypatch.setattr(MemoryStore, "cards", away)
    card = card_of(operator, "echo")

    assert card["conditions"] == {
        "hold": None,
        "why": "Redis does not answer now",
        "first": None,
    }


def test_a_figure_comes_as_data_or_not_at_all(operator: Client, world: World) -> None:
    operator.get(CARDS)
    world.pass_s(1)
    world.round()
    echo, shadowsync = card_of(operator, "echo"), card_of(operator, "shadowsync")

    assert echo["figure"] is None
    figure = shadowsync["figure"]
    assert (figure["kind"], figure["points"], figure["mark"]) == ("points", [], None)
    assert (figure["y"]["unit"], figure["weighs"]) == ("ms", "windows")
    assert figure["note"].startswith("Nothing to draw yet")


def test_an_operator_switches_and_the_job_is_told_at_once(operator: Client, world: World) -> None:
    response = put(operator, options={"times": 2})

    assert response.status_code == 200
    assert (response.json()["mode"], response.json()["state"]) == ("act", "asked")
    assert (response.json()["by"], response.json()["version"]) == ("olga", 1)
    assert control.decode(world.store.controls[ANNOUNCEMENT.job_id]).version == 1
    assert AuditEntry.objects.get().reason == "the tail"


def test_a_switch_is_decided_on_without_waiting_for_a_tick(
    operator: Client, world: World, errands: list[tuple[Any, ...]]
) -> None:
    put(operator)
    assert errands == [(tasks.steer_job.name, world.job.pk)]
    assert app.conf.task_routes[tasks.steer_job.name] == to_every_worker


def test_a_broker_that_is_away_takes_no_switch_with_it(
    operator: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def away(*_: object, **__: object) -> None:
        raise OperationalError("away")

    monkeypatch.setattr(app, "send_task", away)

    assert put(operator).status_code == 200
    assert "will be steered with the next tick" in caplog.text


def test_a_viewer_may_look_and_not_switch(world: World) -> None:
    viewer = logged_in("vera", Role.VIEWER)

    assert viewer.get(CARDS).status_code == 200
    response = put(viewer)
    assert response.status_code == 403
    assert "operator" in response.json()["detail"]
    assert not TechniqueSetting.objects.exists()


def test_the_later_of_two_operators_learns_what_changed(operator: Client) -> None:
    otto = logged_in("otto", Role.OPERATOR)
    assert put(otto, mode="advise").status_code == 200

    response = put(operator)
    assert response.status_code == 409
    assert response.json()["detail"] == "otto switched echo to advise meanwhile"
    assert response.json()["current"]["mode"] == "advise"
    assert put(operator, version=1).status_code == 200


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"mode": "on"}, "mode"),
        ({"version": -1}, "version"),
        ({"version": None}, "version"),
        ({"reason": "x" * 501}, "reason"),
        ({"options": {"times": 9}}, "options.times"),
        ({"options": {"mood": 1}}, "options.mood"),
        ({"options": {"word": "maybe"}}, "options.word"),
        ({"options": []}, "options"),
    ],
)
def test_bad_input_is_400_with_the_field_named(
    operator: Client, body: dict[str, Any], field: str
) -> None:
    response = put(operator, **body)

    assert response.status_code == 400
    assert response.json()["faults"][0]["field"].startswith(field)
    assert not TechniqueSetting.objects.exists()


def test_an_unknown_technique_or_job_is_404(operator: Client) -> None:
    assert put(operator, f"{CARDS}/telepathy").status_code == 404
    assert put(operator, "/api/v1/jobs/nobody/techniques/echo").status_code == 404
    assert operator.get("/api/v1/jobs/nobody/techniques").status_code == 404


def test_nobody_sees_cards_without_a_login(world: World, client: Client) -> None:
    assert client.get(CARDS).status_code == 401
    assert put(client).status_code == 401


def test_a_switch_while_redis_is_away_is_kept_for_the_worker(
    operator: Client, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_arguments: object) -> None:
        raise StoreUnavailable("away")

    with monkeypatch.context() as patched:
        patched.setattr(MemoryStore, "put_control", away)
        assert put(operator).status_code == 200
    assert world.store.controls == {}

    world.pass_s(1)
    world.round()
    assert "echo" in world.document.techniques
