from typing import Any

import pytest
from playwright.sync_api import Page

from tests.frontend.modules import run

pytestmark = pytest.mark.browser

NOW = 1_000_000_000


def test_following_the_right_edge_is_now_so_that_silence_shows(blank: Page) -> None:
    ranges = run(
        blank,
        "chart/view",
        """const view = new m.View(60_000);
        return [view.range(given, given - 800), view.range(given, given - 20_000),
                view.range(given, given - 3_600_000), view.range(given, null)];""",
        NOW,
    )
    assert ranges[0] == ranges[1] == ranges[3] == [NOW - 60_000, NOW]
    last = NOW - 3_600_000
    assert ranges[2] == [last - 30_000, last + 30_000]


def test_a_paused_view_stays_where_it_is(blank: Page) -> None:
    ranges = run(
        blank,
        "chart/view",
        """const view = new m.View(60_000);
        view.pause([1000, 61_000]);
        const held = view.range(given, given);
        view.follow();
        return [held, view.range(given, given)];""",
        NOW,
    )
    assert ranges == [[1000, 61_000], [NOW - 60_000, NOW]]


@pytest.mark.parametrize(
    ("changes", "state", "words"),
    [
        ({}, "live", "Live"),
        ({"paused": True}, "paused", "Paused"),
        ({"connection": "behind"}, "behind", "Behind fetching what was skipped"),
        (
            {"connection": "reconnecting", "downForMs": 7000},
            "reconnecting",
            "Reconnecting for 7 s",
        ),
        ({"connection": "connecting", "downForMs": 100}, "reconnecting", "Connecting"),
        ({"lastMs": NOW - 12_000}, "stale", "No frames for 12 s"),
        ({"lastMs": None}, "stale", "No frames in the last 15 min"),
        (
            {"lastMs": NOW - 120_000, "jobState": "stopped"},
            "stale",
            "Stopped last frame 2 min ago",
        ),
        (
            {"paused": True, "lastMs": NOW - 12_000},
            "paused",
            "Paused No frames for 12 s",
        ),
        (
            {"paused": True, "connection": "reconnecting", "downForMs": 3000},
            "paused",
            "Paused Reconnecting for 3 s",
        ),
    ],
)
def test_the_status_never_looks_healthy_while_no_data_comes(
    blank: Page, changes: dict[str, Any], state: str, words: str
) -> None:
    given = {
        "connection": "live",
        "downForMs": 0,
        "paused": False,
        "jobState": "running",
        "lastMs": NOW - 700,
        "nowMs": NOW,
    } | changes
    status = run(blank, "job/status", "return m.pageStatus(given);", given)
    assert status["state"] == state
    assert f"{status['word']} {status['detail']}".strip() == words
    assert (status["tone"] == "good") == (state == "live")


def test_current_numbers_name_the_window_they_are_from(blank: Page) -> None:
    worst, rate, host = run(
        blank,
        "job/stats",
        """const { WindowRing } = await import('/static/curtail/js/chart/ring.js');
        const ring = new WindowRing();
        ring.put({ ...batch([0, 50, 100, 150], { p999: [40, null, 2000, 50] }),
                   cpu: { a: [10, 20, 30, 40], b: [50, null, null, 60] } });
        return [m.worst(ring, "p999", 0, 200), m.rowRate(ring, 0, 200),
                m.busiestHost(ring, 0, 200)];""",
    )
    assert worst == {"value": 2000, "atMs": 100}
    assert rate == 4 * 7 / 0.2
    assert host == {"host": "b", "value": 55}


def test_the_cursor_finds_the_worst_window_in_reach(blank: Page) -> None:
    found = run(
        blank,
        "job/stats",
        """const { WindowRing } = await import('/static/curtail/js/chart/ring.js');
        const ring = new WindowRing();
        ring.put(batch([0, 50, 100, 150, 200], { p999: [40, 41, 2000, 42, null] }));
        return [m.windowNear(ring, 10, 150), m.windowNear(ring, 10, 30),
                m.windowNear(ring, 220, 10), m.windowNear(ring, 900, 10)];""",
    )
    assert found == [2, 0, 4, None]
