"""A card follows what the job's frames say, at once; the rule is the server's own."""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.frontend import fleet
from tests.frontend.live import JOB, Live, flow_for, until_live
from tests.frontend.modules import run

pytestmark = pytest.mark.browser

TABLE = Path(__file__).parents[1] / "dashboard" / "steering" / "status_cases.json"
CASES: list[dict[str, Any]] = json.loads(TABLE.read_text())


def asked(version: int, state: str = "applied", because: str = "") -> dict[str, Any]:
    told = {"mode": "act", "state": state, "version": version, "because": because}
    return {"version": version, "settled": True, "techniques": {"echo": told}}


@pytest.mark.parametrize("case", CASES, ids=[case["case"] for case in CASES])
def test_a_card_stands_where_the_servers_rule_says(blank: Page, case: dict[str, Any]) -> None:
    found = run(
        blank,
        "technique/controlstate",
        "return m.controlState({ name: 'echo', ...given }, given.asked);",
        case,
    )
    assert found == {"state": case["state"], "because": case["because"]}


def test_what_is_off_or_was_never_asked_for_stays_off(blank: Page) -> None:
    states = run(
        blank,
        "technique/controlstate",
        """const asked = { version: 9, settled: false, techniques: {} };
        const off = { name: "echo", mode: "off", state: "off" };
        return [{ ...off, document_version: 4 }, { ...off, document_version: 0 }]
          .map((item) => m.toldBy(asked, item).state);""",
    )
    assert states == ["off", "off"]


@pytest.fixture
def live(base: str, page: Page) -> Live:
    return Live(base, page, lambda path, query: None)


def polls(live: Live) -> int:
    return sum(request.endswith(f"/jobs/{JOB.id}/techniques") for request in live.requests)


def test_a_live_batch_moves_the_card_before_the_server_knows(live: Live, page: Page) -> None:
    waiting = {"mode": "act", "state": "asked", "version": 1, "document_version": 4}
    live.cards = [fleet.card("echo", title="Echo", computed_ms=1, **waiting)]
    live.asked = asked(3)
    live.start()
    until_live(live)
    card = page.get_by_role("article", name="Echo")
    expect(card).to_contain_text("waiting for the job to answer")

    live.asked = asked(4, "refused", "1: no RocksDB here")
    live.flow()
    expect(card).to_contain_text("refused because 1: no RocksDB here")
    live.asked = asked(4)
    live.flow()
    # All the while the server answers that it is asked.
    expect(card).to_have_attribute("data-state", "applied")
    expect(card).to_contain_text("“act” asked → applied.")
    assert live.errors == []


def test_a_document_that_no_card_knows_is_asked_about_once(live: Live, page: Page) -> None:
    known = {"mode": "act", "state": "applied", "version": 1, "document_version": 4}
    live.cards = [fleet.card("echo", title="Echo", computed_ms=1, **known)]
    live.asked = asked(4)
    live.start()
    until_live(live)
    expect(page.get_by_role("article", name="Echo")).to_be_visible()
    before = polls(live)

    live.asked = {**asked(4), "version": 5}
    for _ in range(3):
        live.flow()
    live.until(lambda: polls(live) > before)
    assert polls(live) == before + 1


def test_cards_that_come_with_the_batches_need_not_be_asked_for(live: Live, page: Page) -> None:
    known = {"mode": "act", "state": "applied", "version": 2, "document_version": 4}
    item = fleet.card("echo", title="Echo", computed_ms=1, **known)
    live.cards = [item]
    live.asked = asked(4)
    live.start()
    until_live(live)
    card = page.get_by_role("article", name="Echo")
    expect(card).to_contain_text("“act” asked → applied.")
    before = polls(live)

    changed = {"hold": False, "why": "nothing compacts any more."}
    live.send({"type": "cards", "items": [{**item, "conditions": changed}]})
    expect(card).to_contain_text("nothing compacts any more.")
    # One that was on its way while somebody switched is older.
    live.send({"type": "cards", "items": [{**item, "mode": "off", "version": 1}]})
    live.asked = {**asked(4), "version": 5}
    flow_for(live, 6)
    expect(card).to_have_attribute("data-mode", "act")
    assert polls(live) == before
    assert live.errors == []
