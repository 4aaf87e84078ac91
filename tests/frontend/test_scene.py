from typing import Any

import pytest
from playwright.sync_api import Page

from tests.frontend.modules import run

pytestmark = pytest.mark.browser

# An hour and more of a job, of which the live ring has the last 15 minutes.
SET_UP = """
const NOW = 1e9;
const asked = [];
let answer = async (startMs, endMs) => batch([startMs, endMs - 50]);
let changes = 0;
const scene = new m.Scene(60_000, {
  fetchWindows: (...range) => { asked.push(range); return answer(...range); },
  nowMs: () => NOW,
  onChange: () => (changes += 1),
});
scene.take(batch([NOW - 100, NOW - 50]), null);
const within = ([start, end]) => [start - NOW, end - NOW];
"""


def scene(blank: Page, body: str) -> Any:
    return run(blank, "chart/scene", SET_UP + body)


def test_zooming_in_on_a_live_view_keeps_its_right_edge(blank: Page) -> None:
    ranges = scene(
        blank,
        """scene.zoom(0.5); const once = within(scene.range);
        scene.zoom(0.5); return [once, within(scene.range), scene.paused];""",
    )
    assert ranges == [[-30_000, 0], [-22_500, -7_500], True]


def test_a_view_stays_within_retention_and_within_one_request(blank: Page) -> None:
    far, wide, ahead, narrow = scene(
        blank,
        """const held = (range) => { scene.pause(range); return within(scene.range); };
        return [held([NOW - 9e6, NOW - 9e6 + 60_000]), held([NOW - 5e6, NOW]),
                held([NOW - 30_000, NOW + 30_000]), held([NOW - 10, NOW - 9])];""",
    )
    hour = -3_600_000 - 50  # from the newest window held
    assert far == [hour, hour + 60_000]
    assert wide[1] - wide[0] == 900_000
    assert ahead == [-60_000, 0]
    assert narrow[1] - narrow[0] == 500


def test_what_the_ring_does_not_reach_is_fetched_once_with_as_much_around_it(blank: Page) -> None:
    asked, shown, again = scene(
        blank,
        """scene.jump(NOW - 1_800_000);
        const loading = scene.shown.state;
        await settle();
        const there = [loading, scene.shown.state, scene.shown.ring.size];
        scene.pan(-0.25); scene.pan(0.25);
        return [asked.map(within), there, asked.length];""",
    )
    assert asked == [[-1_800_000 - 450_000, -1_800_000 + 450_000]]
    assert shown == ["loading", "there", 2]
    assert again == 1


def test_a_fetch_that_failed_is_said_and_live_needs_none_of_it(blank: Page) -> None:
    states = scene(
        blank,
        """answer = async () => { throw new Error("no"); };
        scene.jump(NOW - 1_800_000); await settle();
        const failed = scene.shown.state;
        scene.follow();
        return [failed, scene.shown.state, scene.shown.ring === scene.ring];""",
    )
    assert states == ["failed", "there", True]


def test_a_pause_holds_the_windows_and_moving_right_takes_newer_ones(blank: Page) -> None:
    sizes = scene(
        blank,
        """scene.pause();
        scene.take(batch([NOW, NOW + 50]), null);
        const held = scene.shown.ring.size;
        scene.pause([NOW - 60_000, NOW]);
        return [held, scene.shown.ring.size];""",
    )
    assert sizes == [2, 4]


def test_what_was_missing_comes_into_a_view_that_holds_still_and_nothing_newer(
    blank: Page,
) -> None:
    windows, starts = scene(
        blank,
        """scene.pause();
        const gc = (start_ms) => ({ kind: "gc", executor: "1", start_ms, end_ms: start_ms + 30 });
        const older = { ...batch([NOW - 400]), activities: [gc(NOW - 400), gc(NOW + 900)] };
        scene.take(older, new Set());
        scene.take({ ...batch([NOW]), activities: [gc(NOW - 300)] }, null);
        const { ring, intervals } = scene.shown;
        const found = intervals.within("gc", 0, 2 * NOW);
        return [ring.size, found.map(({ start_ms }) => start_ms - NOW)];""",
    )
    assert windows == 3
    assert starts == [-400]


def test_a_new_span_keeps_the_right_edge_of_a_view_that_holds_still(blank: Page) -> None:
    held = scene(
        blank,
        "scene.pause([NOW - 70_000, NOW - 10_000]); scene.setSpan(300_000); "
        "return within(scene.range);",
    )
    assert held == [-310_000, -10_000]
