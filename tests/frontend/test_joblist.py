from typing import Any

import pytest
from playwright.sync_api import Page

from tests.frontend.modules import run

pytestmark = pytest.mark.browser

SET_UP = """
FakeSocket.all = [];
const clock = new FakeClock();
const told = [], troubles = [];
let polls = 0;
let answer = async () => ({ items: [{ id: "polled" }], now_ms: 5 });
const list = new m.JobList({
  socketUrl: "ws://test",
  fetchJobs: () => { polls += 1; return answer(); },
  onJobs: (items) => told.push(items.map(({ id }) => id).join()),
  onTrouble: (error) => troubles.push(error.message),
  onRefused: () => {},
  Socket: FakeSocket, clock, random: () => 0,
});
list.start();
await settle();
"""


def job_list(blank: Page, body: str) -> Any:
    return run(blank, "fleet/joblist", SET_UP + body)


def test_it_does_not_poll_while_the_socket_is_up(blank: Page) -> None:
    polls, told = job_list(
        blank,
        """FakeSocket.last.say({ type: "jobs", items: [{ id: "pushed" }] });
        await clock.advance(60_000);
        return [polls, told];""",
    )
    assert (polls, told) == (1, ["polled", "pushed"])


def test_it_polls_every_5_s_while_the_socket_is_down(blank: Page) -> None:
    before, after = job_list(
        blank,
        """FakeSocket.last.say({ type: "jobs", items: [{ id: "pushed" }] });
        FakeSocket.last.drop();
        await settle();
        const before = polls;
        await clock.advance(20_000);
        return [before, polls];""",
    )
    assert (before, after) == (2, 6)


def test_a_failed_poll_is_trouble_only_while_the_socket_is_down(blank: Page) -> None:
    troubles = job_list(
        blank,
        """answer = async () => { throw new Error("no answer"); };
        await clock.advance(5000);
        const down = troubles.length;
        FakeSocket.last.say({ type: "jobs", items: [{ id: "pushed" }] });
        await clock.advance(60_000);
        return [down, troubles.length];""",
    )
    assert troubles == [1, 1]


def test_a_push_of_changes_is_merged_into_what_is_known(blank: Page) -> None:
    told = job_list(
        blank,
        """const seen = [];
        list.onJobs = (items) => seen.push(items);
        FakeSocket.last.say({ type: "jobs", full: true, items: [
          { id: "a", state: "running", p99_ms: 1 }, { id: "b", state: "running" }] });
        FakeSocket.last.say({ type: "jobs", full: false, gone: ["b"], items: [
          { id: "a", p99_ms: 2 }, { id: "c", state: "stale" }] });
        return seen.at(-1);""",
    )
    assert told == [
        {"id": "a", "state": "running", "p99_ms": 2},
        {"id": "c", "state": "stale"},
    ]
