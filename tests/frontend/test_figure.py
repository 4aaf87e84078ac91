from typing import Any

import pytest
from playwright.sync_api import Page

from tests.frontend.modules import run

pytestmark = pytest.mark.browser

# A calm job of 15 minutes with one window of 2 s, drawn 1000 px wide.
SET_UP = """
const { WindowRing } = await import('/static/curtail/js/chart/ring.js');
const { Intervals } = await import('/static/curtail/js/chart/intervals.js');
const ring = new WindowRing();
const intervals = new Intervals();
const times = Array.from({ length: 18_000 }, (_, i) => i * 50);
const p999 = times.map(() => 400);
p999[9000] = 2000;
ring.put(batch(times, { p999 }));
const draw = (range, more = {}) => m.figure({
  ring, intervals, range, scale: "log", which: "processed", zone: "utc", hidden: new Set(),
  colours: {}, width: 1000, state: "there", ...more });
"""


def figure(blank: Page, body: str) -> Any:
    return run(blank, "chart/figure", SET_UP + body)


def test_a_spike_of_50_ms_is_as_high_at_any_zoom(blank: Page) -> None:
    heights = figure(
        blank,
        """return [900_000, 300_000, 60_000, 15_000, 2_000].map((span) => {
          const { lines } = draw([450_000 - span / 2, 450_000 + span / 2]);
          const { x, y } = lines[3];
          const top = Math.max(...y);
          const calm = y.find((v) => v !== null);
          return [x[y.indexOf(top)], Math.round(top - calm)];
        });""",
    )
    # At each zoom at the spike's own time, and as far above the calm line.
    assert heights == [[450_000, heights[0][1]]] * 5
    assert heights[0][1] > 50


def test_no_panel_draws_into_another(blank: Page) -> None:
    places = figure(
        blank,
        """const { lines, frame, heads } = draw([0, 900_000], { scale: "linear" });
        const latency = lines.slice(0, 4).flatMap(({ y }) => y.filter((v) => v !== null));
        const bottom = frame.total - 200;
        return [Math.min(...latency) >= bottom, Math.max(...latency) <= frame.total,
                heads.map(({ topPx }) => topPx)];""",
    )
    assert places[:2] == [True, True]
    assert places[2] == sorted(places[2])


def test_narrow_views_show_single_intervals_in_lanes(blank: Page) -> None:
    wide, narrow = figure(
        blank,
        """const item = (kind, operator, partition, start_ms, end_ms, name = "") =>
          ({ kind, executor: "1", operator, partition, name, start_ms, end_ms, reason: "batch 1" });
        intervals.put([item("flush", 0, 1, 1000, 1000.2), item("flush", 0, 0, 1010, 1030),
                       item("flush", 1, 0, 1020, 1060), item("gc", null, null, 1100, 1130)]);
        const titles = ({ heads }) => heads.map(({ title }) => title);
        const near = draw([0, 10_000]);
        const flushes = near.lines.filter(({ look }) => look.colour === "flush");
        const labels = near.layout.yaxis.ticktext;
        return [titles(draw([0, 60_000])),
                [titles(near)[5], labels.filter((text) => text.includes("/")),
                 flushes.map(({ y }) => y[0]), flushes[1].x[1] - flushes[1].x[0]]];""",
    )
    assert wide[5] == "Flushes at once"
    assert narrow[0] == "Flushes of each state store, operator/partition"
    # Three lanes of 13 px each have room for every label, the highest for operator 0.
    assert set(narrow[1]) == {"0/0", "0/1", "1/0"}
    assert narrow[2] == sorted(narrow[2], reverse=True)
    # A flush of 0.2 ms is as wide as a line is thick.
    assert narrow[3] > 10


def test_of_batches_on_one_pixel_the_longest_stays(blank: Page) -> None:
    highest = figure(
        blank,
        """intervals.put(Array.from({ length: 2000 }, (_, i) => ({ kind: "gc", executor: "1",
          operator: null, partition: null, name: "", reason: "",
          start_ms: i * 400, end_ms: i * 400 + (i === 777 ? 90 : 5) })));
        const gc = draw([0, 900_000]).lines.find(({ look }) => look.colour === "gc");
        const top = Math.max(...gc.y);
        return [gc.x[gc.y.indexOf(top)], gc.x.length < 3 * 950];""",
    )
    assert highest == [777 * 400, True]


def test_a_panel_without_values_says_why_unless_they_are_still_on_their_way(blank: Page) -> None:
    notes = figure(
        blank,
        """const note = (state) => draw([0, 60_000], { state }).heads[5].note;
        return [note("there"), note("loading")];""",
    )
    assert "RocksDB" in notes[0]
    assert notes[1] == ""


def test_the_page_paints_the_spike(blank: Page) -> None:
    """Not only in numbers: the pixels above the calm line are coloured, at full zoom out."""
    counts = figure(
        blank,
        """const { paint } = await import('/static/curtail/js/chart/paint.js');
        const canvas = document.createElement("canvas");
        const made = draw([0, 900_000]);
        const colours = new Proxy({}, { get: () => "#000" });
        paint(canvas, made, [0, 900_000], made.frame, colours);
        const { l, r, t } = made.frame.margin;
        const x = l + (1000 - l - r) / 2;
        const inked = (left, wide) => {
          const { data } = canvas.getContext("2d").getImageData(left, t, wide, 30);
          return data.filter((v, i) => i % 4 === 3 && v > 100).length;
        };
        return [inked(x - 3, 6), inked(x - 40, 20)];""",
    )
    assert counts[0] >= 20
    assert counts[1] == 0
