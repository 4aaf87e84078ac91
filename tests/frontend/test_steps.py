"""Views that are wider than the ring: steps instead of windows, their words and their axis."""

from typing import Any

import pytest
from playwright.sync_api import Page

from tests.frontend.modules import run

pytestmark = pytest.mark.browser

HOUR_MS, DAY_MS = 3_600_000, 86_400_000

FAR = """
const NOW = 1e12, HOUR = 3_600_000, DAY = 24 * HOUR;
const asked = [];
const scene = new m.Scene(60_000, {
  fetchWindows: async (...range) => { asked.push(["windows", ...range]); return batch(range); },
  fetchSteps: async (...range) => {
    asked.push(["steps", ...range]);
    const steps = batch([range[0], range[1] - 60_000]);
    return { ...steps, window_ms: 60_000, missing: [], incomplete: "so" };
  },
  nowMs: () => NOW,
  onChange: () => {},
  reachMs: 30 * DAY,
});
scene.take(batch([NOW - 100, NOW - 50]), null);
"""


def far(blank: Page, body: str) -> Any:
    return run(blank, "chart/scene", FAR + body)


def test_a_wide_view_is_of_steps_and_holds_still(blank: Page) -> None:
    asked, size, shown, span = far(
        blank,
        """scene.setSpan(DAY); await settle();
        const { ring, state, incomplete, range } = scene.shown;
        const drawn = [ring.windowMs, ring.size, state, incomplete, scene.paused];
        return [asked, range[1] - range[0], drawn, scene.view.spanMs];""",
    )
    # A quarter of the view more on either side.
    [[what, start_ms, end_ms]] = asked
    assert (what, end_ms - start_ms, size) == ("steps", 1.5 * DAY_MS, DAY_MS)
    assert shown == [60_000, 2, "there", "so", True]
    assert span == 60_000, "live is as wide as it was"


def test_panning_within_what_was_fetched_asks_for_nothing_and_beyond_it_does(blank: Page) -> None:
    once, twice = far(
        blank,
        """scene.setSpan(DAY); await settle();
        scene.pan(-0.25); await settle();
        const once = asked.length;
        scene.pan(-0.25); await settle();
        return [once, asked.length];""",
    )
    assert (once, twice) == (1, 2)


def test_zooming_in_asks_for_finer_steps_and_then_for_windows(blank: Page) -> None:
    asked, step_ms = far(
        blank,
        """scene.setSpan(DAY); await settle();
        scene.zoom(1 / 8); await settle();
        scene.zoom(1 / 16); await settle();
        return [asked.map(([what]) => what), scene.shown.ring.windowMs];""",
    )
    assert asked == ["steps", "steps", "windows"]
    assert step_ms == 50


def test_no_view_is_wider_than_what_is_kept(blank: Page) -> None:
    size = far(blank, "scene.setSpan(400 * DAY); return scene.range[1] - scene.range[0];")
    assert size == 30 * DAY_MS


def test_marks_of_days_are_at_the_zones_midnights(blank: Page) -> None:
    # Across the end of summer time in Berlin: 25 October 2026.
    start_ms = 1_792_706_400_000
    labels = run(
        blank,
        "chart/axes",
        """const end = given + 5 * 86_400_000;
        const { values, labels } = m.timeMarks([given, end], 6, "local");
        return labels.filter((_, i) => values[i] >= given && values[i] < end);""",
        start_ms,
    )
    assert labels == ["23 Oct", "24 Oct", "25 Oct", "26 Oct", "27 Oct"]


@pytest.mark.parametrize(("step_ms", "name"), [(1_000, "1 s"), (60_000, "1 min"), (HOUR_MS, "1 h")])
def test_a_step_is_called_by_its_length(blank: Page, step_ms: int, name: str) -> None:
    assert run(blank, "job/steps", "return m.stepName(given);", step_ms) == name


def test_what_is_missing_and_why_is_in_words(blank: Page) -> None:
    line = run(
        blank,
        "job/steps",
        """const ring = { stepped: true, windowMs: 60_000 };
        const shown = { ring, range: [0, 9e6], state: "there",
          missing: [{ start_ms: 0, end_ms: 60_000 }, { start_ms: 3e6, end_ms: 6e6 },
                    { start_ms: 1e7, end_ms: 2e7 }],
          incomplete: "the archive cannot be read" };
        return [m.stepsLine(shown, "utc"), m.stepsLine({ ...shown, state: "loading" }, "utc")];""",
    )
    assert line[0].startswith("1 min steps, not 50 ms windows")
    assert "No data in 2 stretches, the longest from 1 Jan, 00:50:00 to 1 Jan, 01:40:00." in line[0]
    assert "Some may be missing: the archive cannot be read." in line[0]
    assert line[1] == ""
