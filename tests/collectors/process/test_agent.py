"""The agent with a fake clock, and the test technique for a realizer."""

import json
from typing import Any

import pytest

from collectors.formats import control
from collectors.formats.asked import Asked, State
from collectors.formats.codec import Garbled
from collectors.formats.control import Control, Value, Wanted
from collectors.formats.parts import UsedPool
from collectors.formats.pools import PoolSample
from collectors.process.agent import GONE_MS, RENEW_MS, Agent, Status
from collectors.process.facts import Facts
from techniques.registry import Registry

JOB, QUERY, RUN = "orders.scored", "query-1", "run-1"
LEASE_MS = 5_000


TECHNIQUES = [
    *(f"tests.techniques.{name}" for name in ("echo", "live_conf", "pool_policy", "raising")),
    *(f"techniques.{name}" for name in ("state_balancing", "task_copies")),
]


class World:
    def __init__(self) -> None:
        self.now_ms = 1_000_000
        self.renewals = 0
        self.facts = Facts()
        self.agent = Agent(Registry(TECHNIQUES), self.facts, self.now_ms)
        self.agent.start(JOB, QUERY, RUN)
        self.alive = ["1", "2"]
        self.told: dict[str, Any] = {"edition": 0, "orders": []}

    def ask(self, version: int = 1, mode: str = "act", name: str = "echo", **more: Value) -> None:
        settings = {"word": "hello", **more} if name == "echo" else more
        self.hear(Control(version, 0, {name: Wanted(mode, version, LEASE_MS, settings)}))

    def hear(self, document: Control) -> None:
        self.document = document
        self.renew()

    def renew(self) -> None:
        self.renewals += 1
        renewed = Control(self.document.version, self.renewals, self.document.techniques)
        self.agent.hear(JOB, control.encode(renewed), self.now_ms)

    def pass_ms(self, ms: int) -> None:
        self.now_ms += ms
        self.tick()

    def tick(self) -> None:
        for executor in self.alive:
            self.agent.saw(executor, f"host-{executor}", self.now_ms)
        if said := self.agent.tell(self.now_ms):
            self.told = json.loads(said)

    def answer(self, *executors: str, refused: dict[int, str] | None = None) -> None:
        self.tick()
        for executor in executors:
            self.agent.report(executor, Status(self.told["edition"], refused or {}))

    def asked(self) -> Asked:
        asked = self.agent.asked(JOB, self.now_ms)
        assert asked is not None
        return asked

    def state(self) -> tuple[State, str]:
        (one,) = self.asked().techniques
        return one.state, one.because


def pool(host: str, query: str = QUERY) -> UsedPool:
    return UsedPool(PoolSample("score", host, 0, ("score",), ()), frozenset((query,)))


@pytest.fixture
def world() -> World:
    return World()


def test_a_job_of_which_nothing_was_asked_says_nothing_and_tells_nothing(world: World) -> None:
    world.tick()

    assert world.agent.asked(JOB, world.now_ms) is None
    assert world.agent.tell(world.now_ms) is None


def test_what_is_asked_becomes_orders_for_the_probe(world: World) -> None:
    world.ask()
    world.tick()

    assert world.told["orders"] == [
        {
            "number": 0,
            "lever": "echo",
            "to": {"place": "executors"},
            "query": QUERY,
            "run": RUN,
            "values": {"word": "hello"},
        }
    ]


def test_it_is_applied_once_every_executor_holds_it(world: World) -> None:
    world.ask()
    world.answer("1")
    assert world.state() == (State.ASKED, "waiting for 2")
    assert not world.asked().settled

    world.answer("2")
    assert world.state() == (State.APPLIED, "")
    assert world.asked().settled


def test_an_executor_that_joins_has_to_agree_too(world: World) -> None:
    world.ask()
    world.answer("1", "2")
    world.alive.append("3")
    world.tick()
    assert world.state() == (State.ASKED, "waiting for 3")

    world.answer("3")
    assert world.state() == (State.APPLIED, "")


def test_nobody_waits_for_an_executor_that_is_gone(world: World) -> None:
    world.ask()
    world.answer("1")
    world.alive.remove("2")
    world.pass_ms(GONE_MS)

    assert world.state() == (State.APPLIED, "")


def test_a_refusal_says_who_and_why(world: World) -> None:
    world.ask()
    world.answer("1", "2")
    world.answer("2", refused={0: "no RocksDB here"})

    assert world.state() == (State.REFUSED, "2: no RocksDB here")


def test_an_answer_to_an_older_edition_does_not_count(world: World) -> None:
    world.ask()
    world.answer("1", "2")
    world.ask(version=2, word="goodbye")

    assert world.state()[0] == State.ASKED
    world.answer("1", "2")
    assert world.state()[0] == State.APPLIED
    assert world.told["orders"][0]["values"] == {"word": "goodbye"}


def test_advice_orders_nothing_and_holds_at_once(world: World) -> None:
    world.ask(mode="advise")
    world.tick()

    assert world.told["orders"] == []
    assert world.state() == (State.APPLIED, "")


def test_off_takes_the_orders_back_and_is_settled_when_all_let_go(world: World) -> None:
    world.ask()
    world.answer("1", "2")
    world.hear(Control(2, 0, {}))
    world.tick()

    assert world.told["orders"] == []
    assert (world.asked().version, world.asked().settled) == (2, False)
    world.answer("1", "2")
    assert world.asked() == Asked(2, True)


def test_a_technique_that_this_job_does_not_know_is_refused(world: World) -> None:
    world.ask(name="telepathy")

    assert world.state() == (State.REFUSED, "this job's Curtail does not know telepathy")


def test_without_renewal_the_job_goes_back_to_its_defaults(world: World) -> None:
    world.ask()
    world.answer("1", "2")
    for _ in range(4):
        world.pass_ms(LEASE_MS // 4)
        assert world.told["orders"]
    world.pass_ms(1)

    assert world.told["orders"] == []
    assert world.state() == (State.LAPSED, "not renewed for 5 s: back to the defaults")


def test_a_renewal_after_the_lease_brings_it_back(world: World) -> None:
    world.ask()
    world.pass_ms(LEASE_MS + 1)
    assert world.state()[0] == State.LAPSED

    world.renew()
    world.tick()
    assert world.told["orders"]
    world.answer("1", "2")
    assert world.state()[0] == State.APPLIED


def test_the_same_document_again_is_no_renewal(world: World) -> None:
    world.ask()
    same = control.encode(Control(1, world.renewals, world.document.techniques))
    world.pass_ms(LEASE_MS)
    world.agent.hear(JOB, same, world.now_ms)
    world.pass_ms(1)

    assert world.state()[0] == State.LAPSED


def test_renewals_change_no_edition(world: World) -> None:
    world.ask()
    world.tick()
    edition = world.told["edition"]
    world.renew()
    world.told = {}
    world.pass_ms(RENEW_MS)

    assert world.told["edition"] == edition


def test_orders_go_with_the_query_that_they_are_for(world: World) -> None:
    world.ask()
    world.answer("1", "2")
    world.agent.end(JOB, world.now_ms)
    world.tick()

    assert world.told["orders"] == []


def test_a_restarted_query_starts_without_orders_until_it_hears_its_document(world: World) -> None:
    world.ask()
    world.answer("1", "2")
    world.agent.start(JOB, QUERY, "run-2")

    assert world.agent.asked(JOB, world.now_ms) is None
    world.renew()
    world.tick()
    assert world.told["orders"][0]["run"] == "run-2"


def test_a_garbled_document_leaves_the_one_before_in_force(world: World) -> None:
    world.ask()
    world.answer("1", "2")
    with pytest.raises(Garbled):
        world.agent.hear(JOB, b"{}", world.now_ms)

    assert world.state()[0] == State.APPLIED


@pytest.mark.parametrize("text", ["", "{}", '{"edition": 1}', '{"edition": "x", "refused": {}}'])
def test_a_status_that_is_none_is_called_garbled(text: str) -> None:
    with pytest.raises(Garbled):
        Status.parse(text)


@pytest.mark.parametrize("error", ["ZeroDivisionError", "KeyError", "RecursionError", "OSError"])
def test_whatever_a_realizer_raises_is_a_refusal_with_the_name_of_the_technique(
    world: World, error: str
) -> None:
    world.ask(name="raising", error=error)
    world.tick()

    state, because = world.state()
    assert state == State.REFUSED
    assert because.startswith(f"raising failed here: {error}")


def test_a_missing_setting_is_not_taken_for_an_unknown_technique(world: World) -> None:
    world.ask(name="raising")

    assert world.state() == (
        State.REFUSED,
        "its settings do not fit: settings.error: is missing",
    )


def test_settings_that_the_technique_does_not_declare_are_refused(world: World) -> None:
    world.ask(word=7)

    assert world.state() == (State.REFUSED, "its settings do not fit: settings.word: a word")


def test_an_order_for_the_driver_waits_for_the_driver_alone(world: World) -> None:
    world.alive.append("driver")
    world.ask(name="live_conf", factor=2)
    world.answer("driver")

    assert world.told["orders"][0]["to"] == {"place": "driver"}
    assert world.state() == (State.APPLIED, "")
    assert not world.asked().settled


def test_an_order_for_a_pool_goes_to_its_host(world: World) -> None:
    world.tick()
    world.facts.pools([pool("host-2")])
    world.ask(name="pool_policy", policy="fewest-queued")
    world.answer("1")

    assert world.told["orders"][0]["to"] == {"place": "pool", "host": "host-2", "pool": "score"}
    assert world.state() == (State.ASKED, "waiting for 2")
    world.answer("2")
    assert world.state() == (State.APPLIED, "")


def test_the_pool_of_another_query_is_left_alone(world: World) -> None:
    world.facts.pools([pool("host-1", query="query-2")])
    world.ask(name="pool_policy", policy="fewest-queued")

    assert world.state() == (State.REFUSED, "this job uses no operator pool")


def test_a_pool_that_comes_up_later_gets_its_order_then(world: World) -> None:
    world.ask(name="pool_policy", policy="fewest-queued")
    assert world.state() == (State.REFUSED, "this job uses no operator pool")

    world.facts.pools([pool("host-1")])
    world.answer("1", "2")
    assert world.state() == (State.APPLIED, "")


def test_what_changes_no_order_changes_no_edition(world: World) -> None:
    world.ask()
    world.answer("1", "2")
    edition = world.told["edition"]
    world.facts.pools([pool("host-1")])
    world.tick()

    assert world.told["edition"] == edition
    assert world.state() == (State.APPLIED, "")


def test_two_jobs_cannot_both_act_on_what_the_application_has_once(world: World) -> None:
    other = "orders.counted"
    world.agent.start(other, "query-2", "run-2")
    world.ask(version=5, name="live_conf", factor=2)
    world.tick()
    wanted = Wanted("act", 1, LEASE_MS, {"factor": 3})
    world.agent.hear(other, control.encode(Control(1, 1, {"live_conf": wanted})), world.now_ms)
    world.tick()

    # The first keeps it although the other's version is lower.
    asked = world.agent.asked(other, world.now_ms)
    assert asked
    assert asked.techniques[0].because == f"live_conf of {JOB} owns the speculation"
    assert len(world.told["orders"]) == 1

    world.hear(Control(6, 0, {}))
    world.tick()
    assert [order["run"] for order in world.told["orders"]] == ["run-2"]


@pytest.mark.parametrize("first", ["state_balancing", "task_copies"])
@pytest.mark.parametrize("stateful", [True, False])
def test_state_is_placed_by_moves_or_by_copies_of_its_tasks_and_not_by_both(
    world: World, first: str, stateful: bool
) -> None:
    copies: dict[str, Value] = {
        "timeouts_ms": {"0": 100},
        "costs_ms": {"0": 50},
        "budget_percent": 5.0,
        "sink": False,
        "stateful": stateful,
    }
    settings: dict[str, dict[str, Value]] = {
        "state_balancing": {"places": {"0": "2"}},
        "task_copies": copies,
    }
    order = [first, *(name for name in settings if name != first)]
    world.tick()
    wanted = {
        name: Wanted("act", version, LEASE_MS, settings[name])
        for version, name in enumerate(order, start=1)
    }
    world.hear(Control(2, 0, wanted))
    world.tick()

    refused = {each.technique: each.because for each in world.asked().techniques if each.because}
    ordered = {each["lever"] for each in world.told["orders"]}
    if stateful:
        assert refused == {order[1]: f"{first} owns the placement of state"}
        assert len(ordered) == 1
    else:
        assert {"state-placement", "task-copies"} == ordered
    world.ask()
    world.answer("1")
    world.alive.remove("2")
    world.agent.left("2")

    assert world.state() == (State.APPLIED, "")


def test_a_document_that_was_overtaken_on_its_way_changes_nothing(world: World) -> None:
    world.ask(version=1)
    late = control.encode(Control(1, world.renewals, world.document.techniques))
    world.ask(version=2, word="goodbye")
    world.agent.hear(JOB, late, world.now_ms)
    world.tick()

    assert world.told["orders"][0]["values"] == {"word": "goodbye"}


def test_a_server_that_counts_anew_is_heard(world: World) -> None:
    world.ask(version=9)
    world.ask(version=1, word="goodbye")
    world.tick()

    assert world.told["orders"][0]["values"] == {"word": "goodbye"}
