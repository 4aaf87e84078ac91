"""ShadowSync on a running job, from the incident to the click that cuts it and back.

It needs the machine to itself: another job beside it is a cause of latency as well.
"""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from redis import Redis

from collectors.formats import keys
from dashboard.series import activities, windows
from dashboard.series.history import History
from dashboard.store import Entry
from dashboard.testing.running import Running
from dashboard.testing.stack import Stack, stack
from techniques.detection.checkpoints import Stage, stages
from tests.end_to_end.conftest import JOB_ID, PATIENCE_MS, log_in
from tests.waiting import until

pytestmark = [
    pytest.mark.browser,
    pytest.mark.spark,
    pytest.mark.quiet,
    pytest.mark.timeout(1200),
]

SHADOWSYNC = {"scheduled_shadowsync", "statistical_shadowsync"}
CARD = "#technique-shadowsync"
PATIENCE_S = 300
# Of each stage, to say of its state stores that they are in step or not.
CYCLES = 2
INSTANCES = 4


@pytest.fixture(scope="module")
def jammed() -> Iterator[Stack]:
    with stack() as started:
        words = ("--setting", "statistical", "--disk-mb-s", "125")
        with Running(started.job("traffic_jam", *words)):
            yield started


def kinds(jammed: Stack) -> set[str]:
    with closing(sqlite3.connect(jammed.data_dir / "curtail.sqlite3")) as database:
        asked = "SELECT kind FROM dashboard_incident WHERE job_id = ?"
        return {kind for (kind,) in database.execute(asked, (JOB_ID,))}


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def known(jammed: Stack, since_ms: int) -> list[Stage]:
    """Stages by what the job sent since then, as the page draws it."""
    client: Any = Redis.from_url(jammed.redis.url)
    with closing(client):
        frames, ended = (
            [
                Entry(int(at.split(b"-")[0]), fields[keys.PAYLOAD])
                for at, fields in client.xrange(stream(JOB_ID).key, min=since_ms)
            ]
            for stream in (keys.frames, keys.activities)
        )
    history = History(20 * 600)
    history.add(windows.read(frames)[0], activities.read(ended)[0])
    return stages(history.view())


def in_step(jammed: Stack, since_ms: int, is_wanted: bool) -> bool:
    """Whether stores are in step, or are not: since then, or in the later half of that time. To get
    back into step takes some compactions, and on a busy machine these are most there are at first.
    """
    later_ms = (since_ms + now_ms()) // 2
    return any(were_in_step(jammed, start_ms, is_wanted) for start_ms in (since_ms, later_ms))


def were_in_step(jammed: Stack, since_ms: int, is_wanted: bool) -> bool:
    """Whether all stages had enough compactions since, and most of them were in step, or were not.
    The first of each store was on its way when the switch was turned."""
    found = known(jammed, since_ms)
    if len(found) < 2 or any(len(each.compactions) < (CYCLES + 1) * INSTANCES for each in found):
        return False
    shares = [
        sum(int(each.compacting[at]) for at in each.in_phase) / int(each.compacting.sum())
        for each in found
    ]
    return all(share >= 0.75 if is_wanted else share <= 0.5 for share in shares)


def switch(page: Page, mode: str) -> int:
    """When the job had applied it."""
    page.locator(CARD).get_by_role("button", name=mode, exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.locator("button[type=submit]").click()
    expect(dialog).to_be_hidden()
    there = "off" if mode == "off" else "applied"
    expect(page.locator(CARD)).to_have_attribute("data-state", there, timeout=PATIENCE_MS)
    return now_ms()


def test_it_is_found_cut_by_one_click_on_its_page_and_back_when_it_is_switched_off(
    jammed: Stack, page: Page
) -> None:
    until(lambda: bool(SHADOWSYNC & kinds(jammed)), timeout_s=PATIENCE_S, every_s=0.5)
    assert SHADOWSYNC & kinds(jammed) == {"statistical_shadowsync"}

    log_in(page, jammed, jammed.username, jammed.password)
    page.goto(f"{jammed.url}/incidents")
    page.get_by_role("link", name="compact at the same time").first.click()
    # Whether p99 is higher when stages compact together is a statistic: it may take more of them.
    expect(page.locator(CARD)).to_contain_text(
        "Its conditions hold here now", timeout=PATIENCE_S * 1000
    )

    incident = page.url
    on_ms = switch(page, "act")
    # Nobody looks meanwhile: a live page is a cause of latency as well.
    page.goto("about:blank")
    until(lambda: in_step(jammed, on_ms, False), timeout_s=PATIENCE_S, every_s=3)
    page.goto(incident)
    # What it did to the percentiles is on the card, whatever it is; with an interval only if the
    # job had been steady for half a minute before it was found.
    effect = page.locator(CARD).get_by_role("row", name="p99.9")
    expect(effect).to_contain_text("×", timeout=PATIENCE_MS)

    off_ms = switch(page, "off")
    page.goto("about:blank")
    until(lambda: in_step(jammed, off_ms, True), timeout_s=PATIENCE_S, every_s=3)
