"""Bodies as others read them, pinned: a change here is a change for somebody's receiver."""

import json
from pathlib import Path
from typing import Any

import pytest

from dashboard.alerts.events import Event, Notice
from dashboard.alerts.formats import Format, encoded
from tests.dashboard.alerts.made import (
    LOST,
    OPENED,
    REFUSED,
    RESOLVED,
    RESTORED,
    VIOLATED,
    opened,
)

GOLDEN = Path(__file__).parent / "golden"
EVENTS = {
    "opened": OPENED,
    "resolved": RESOLVED,
    "refused": REFUSED,
    "violated": VIOLATED,
    "restored": RESTORED,
    "lost": LOST,
}


def body(wanted: Format, event: Event, public_url: str = "https://curtail.example.org") -> Any:
    return json.loads(encoded(wanted, Notice("msg_1", event, public_url, "R0UT1NG")))


@pytest.mark.parametrize("name", EVENTS)
@pytest.mark.parametrize("wanted", Format)
def test_a_body_is_what_it_was(wanted: Format, name: str) -> None:
    golden = json.loads((GOLDEN / f"{wanted}-{name}.json").read_text())
    assert body(wanted, EVENTS[name]) == golden


@pytest.mark.parametrize("wanted", Format)
def test_the_same_notice_gives_the_same_bytes(wanted: Format) -> None:
    notice = Notice("msg_1", OPENED)
    assert encoded(wanted, notice) == encoded(wanted, notice)


@pytest.mark.parametrize("wanted", Format)
def test_without_an_address_of_our_own_there_are_no_links(wanted: Format) -> None:
    assert "/jobs/orders.scored" not in json.dumps(body(wanted, OPENED, public_url=""))


def test_begin_and_end_have_the_same_key_for_pagerduty_and_alertmanager() -> None:
    begin, end = body(Format.PAGERDUTY, OPENED), body(Format.PAGERDUTY, RESOLVED)
    assert begin["dedup_key"] == end["dedup_key"] != body(Format.PAGERDUTY, opened(8))["dedup_key"]
    assert (begin["event_action"], end["event_action"]) == ("trigger", "resolve")

    begin, end = body(Format.ALERTMANAGER, OPENED), body(Format.ALERTMANAGER, RESOLVED)
    assert begin["alerts"][0]["fingerprint"] == end["alerts"][0]["fingerprint"]
    assert begin["groupKey"] == end["groupKey"]
    assert begin["groupLabels"] == end["groupLabels"]


def test_a_promise_that_is_kept_again_ends_the_alert_of_its_violation() -> None:
    begin, end = body(Format.PAGERDUTY, VIOLATED), body(Format.PAGERDUTY, RESTORED)
    assert begin["dedup_key"] == end["dedup_key"]
    assert (begin["event_action"], end["event_action"]) == ("trigger", "resolve")
    begin, end = body(Format.ALERTMANAGER, VIOLATED), body(Format.ALERTMANAGER, RESTORED)
    assert (begin["status"], end["status"]) == ("firing", "resolved")
    assert begin["groupKey"] == end["groupKey"]


def test_the_name_of_a_job_calls_nobody_in_slack() -> None:
    sent = json.dumps(body(Format.SLACK, opened(job="<!channel>", title="<!here>"), public_url=""))
    header = "<!here>"  # plain text, which Slack does not interpret
    assert "<!channel>" not in sent
    assert sent.count(header) == 1


def test_what_is_too_long_for_slack_and_pagerduty_is_cut() -> None:
    long = opened(title="t" * 5_000, explanation="e" * 5_000, evidence={"x": "y" * 5_000})
    blocks = body(Format.SLACK, long)["blocks"]
    assert len(blocks[0]["text"]["text"]) == 150
    assert len(blocks[1]["text"]["text"]) == 3_000
    assert len(blocks[2]["fields"][0]["text"]) == 2_000
    assert len(body(Format.PAGERDUTY, long)["payload"]["summary"]) == 1_024
