"""Memory, lag and state on the job page: told once a second, and drawn as lines all the same."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.frontend import slow
from tests.frontend.live import Live, chart, wait_for_chart
from tests.frontend.modules import run

pytestmark = pytest.mark.browser

TITLES = [
    "Latency",
    "Host CPU",
    "CPU per executor, % of one core",
    "Container memory, % of its limit",
    "Memory per executor, resident",
    "Backlog, rows",
    "Lag, age",
    "Lag per source partition, rows",
    "Tasks",
    "Flushes at once",
    "Compactions at once",
    "State, rows",
    "State, size",
    "RocksDB memory",
    "GC pauses",
    "Micro-batches by phase",
]


class Slow(Live):
    """A job that tells all of it."""

    def windows(self, start_ms: int, end_ms: int) -> Any:
        return {**super().windows(start_ms, end_ms), "seconds": slow.seconds(start_ms, end_ms)}


@pytest.fixture
def live(base: str, page: Page) -> Slow:
    return Slow(base, page, lambda path, query: None)


def test_every_panel_of_what_changes_slowly_is_there_with_its_lines(live: Slow, page: Page) -> None:
    live.start()
    wait_for_chart(page)
    heads = page.locator(".panel-head")
    expect(heads.locator("h3")).to_have_text(TITLES)

    def names(title: str) -> Any:
        return heads.filter(has_text=title).locator(".series-name")

    expect(names("Container memory")).to_have_text(["1", "2", "driver"])
    expect(names("Lag, age")).to_have_text(["oldest unread record"])
    expect(names("Lag per source")).to_have_count(8)
    expect(names("State, rows")).to_have_text(["operator 0, stateStoreSave", "operator 1, dedupe"])
    parts = ("block cache", "of it pinned", "memtables")
    expect(names("RocksDB memory")).to_have_text([f"{n} {part}" for n in "12" for part in parts])
    assert live.errors == []


def test_the_cursor_reads_what_was_told_last_between_two_seconds(live: Slow, page: Page) -> None:
    live.start()
    wait_for_chart(page)
    page.get_by_role("button", name="Pause").click()
    box = chart(page).bounding_box()
    assert box is not None
    heads = page.locator(".panel-head")
    for share in (0.91, 0.93, 0.95):
        page.mouse.move(box["x"] + share * box["width"], box["y"] + 100)
        value = heads.filter(has_text="Memory per executor").locator(".series-value").first
        expect(value).to_contain_text("GiB")
        expect(heads.filter(has_text="Lag, age").locator(".series-value")).to_contain_text("s")


def test_a_job_that_tells_none_of_it_has_none_of_the_panels(base: str, page: Page) -> None:
    live = Live(base, page, lambda path, query: None)
    live.start()
    wait_for_chart(page)
    expect(page.locator(".panel-head")).to_have_count(9)


RING = """
const told = { t: [1000, 2000], memory: {}, reclaimable: {}, memory_limit: {},
  resident: { 1: [7, 9] }, rocksdb_cache: {}, rocksdb_pinned: {}, rocksdb_memtables: {},
  state_rows: { 0: [5, null] },
  state_bytes: {}, operators: { 0: "dedupe" }, lag_ms: [40, 60], lag_basis: ["offsets", "rate"],
  lag_partitions: [2, 2], lag_rows: {} };
const times = Array.from({ length: 40 }, (_, i) => 50 + i * 50);
const ring = new m.WindowRing({ capacity: 60 });
"""


def test_values_of_a_second_are_in_the_window_in_which_they_were_told(blank: Page) -> None:
    found = run(
        blank,
        "chart/ring",
        RING
        + """
        ring.put({ ...batch(times), seconds: told });
        const at = (group, name) => [19, 20, 40].map((n) => ring.of(group, name, n));
        return [at("resident", "1"), at("lag", "offsets"), at("lag", "rate"), at("state_rows", "0"),
                [...ring.operators], ring.names("container")]
          .map((each) => JSON.stringify(each));""",
    )
    assert found == [
        "[null,7,9]",
        "[null,40,null]",
        "[null,null,60]",
        "[null,5,null]",
        '[["0","dedupe"]]',
        "[]",
    ]


def test_a_frozen_ring_takes_nothing_newer_and_keeps_what_it_has(blank: Page) -> None:
    found = run(
        blank,
        "chart/ring",
        RING
        + """
        ring.put({ ...batch(times.slice(0, 25)), seconds: { ...told, t: [1000, 1250] } });
        const still = ring.freeze();
        still.put({ ...batch(times), seconds: told });
        return [still.of("resident", "1", 20), still.of("resident", "1", 40),
                still.operators.get("0")].map((each) => JSON.stringify(each));""",
    )
    assert found == ["7", "null", '"dedupe"']


def test_container_memory_is_what_cannot_be_taken_back_as_a_share_of_the_limit(
    blank: Page,
) -> None:
    found = run(
        blank,
        "chart/seconds",
        """const others = { rocksdb_cache: {}, rocksdb_pinned: {}, rocksdb_memtables: {} };
        return m.groupsOf({ ...given, ...others, lag_ms: [], lag_basis: [] }).container;""",
        {
            "memory": {"1": [90, None, 80], "2": [5, 5, 5]},
            "reclaimable": {"1": [40, None, None]},
            "memory_limit": {"1": [100, 100, 100]},
        },
    )
    assert found == {"1": [50, None, 80], "2": [None, None, None]}


MANY = """
const { WindowRing } = await import('/static/curtail/js/chart/ring.js');
const names = Array.from({ length: given }, (_, i) => `${i + 1}`);
const each = (value) => Object.fromEntries(names.map((name, i) => [name, [value(i)]]));
const ring = new WindowRing();
ring.put({ ...batch([1000]), seconds: { t: [1000], memory: {}, reclaimable: {}, memory_limit: {},
  resident: {}, rocksdb_cache: each((i) => 100 + i), rocksdb_pinned: each((i) => i),
  rocksdb_memtables: each(() => 7), state_rows: {}, state_bytes: {}, operators: {}, lag_ms: [null],
  lag_basis: [null], lag_partitions: [null],
  lag_rows: Object.fromEntries(names.map((name, i) => [`orders-${name}`, [i]])) } });
const series = (id) => [...m.LAG, ...m.STATE].find((panel) => panel.id === id).series({ ring });
"""


def test_of_many_executors_the_highest_is_drawn_for_each_part_of_rocksdbs_memory(
    blank: Page,
) -> None:
    found = run(
        blank,
        "chart/slowpanels",
        MANY + 'return series("rocksdb-memory").map(({ name, at }) => [name, at(20)]);',
        6,
    )
    assert found == [
        ["block cache, highest of 6", 105],
        ["of it pinned, highest of 6", 5],
        ["memtables, highest of 6", 7],
    ]


def test_of_many_partitions_the_furthest_behind_are_drawn(blank: Page) -> None:
    found = run(
        blank,
        "chart/slowpanels",
        MANY + 'return series("lag-rows").map(({ at }) => at(20));',
        30,
    )
    assert sorted(found) == list(range(22, 30))


FAR = """
const { WindowRing } = await import('/static/curtail/js/chart/ring.js');
const ring = new WindowRing({ windowMs: 60_000, capacity: 100 });
const rolled = {
  state_rows: { 0: [5, 9], 1: [3, 7] }, state_bytes: {}, lag_ms: [40, null],
  resident: { 1: [900, 950] }, rocksdb_memtables: { 1: [64, null] },
};
ring.put({ ...batch([0, 60_000]), ...rolled });
"""


def test_a_far_view_has_state_memory_and_the_highest_lag(
    blank: Page,
) -> None:
    found = run(
        blank,
        "chart/panels",
        FAR
        + """
        const first = (series) => series({ ring }).map(({ name, at }) => [name, at(0)]);
        return m.presentIn({ ring }).filter(({ id }) => /^(lag|state|resident|rocksdb)/.test(id))
          .map(({ id, series }) => [id, ...first(series)]);""",
    )
    assert found == [
        ["resident-memory", ["1", 900]],
        ["lag_ms", ["highest of the step", 40]],
        ["rocksdb_memtables", ["1", 64]],
        ["state-rows", ["operator 0", 5], ["operator 1", 3]],
    ]
