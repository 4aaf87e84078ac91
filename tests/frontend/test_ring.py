import pytest
from playwright.sync_api import Page

from tests.frontend.modules import run

pytestmark = pytest.mark.browser

READ = """
const held = (ring) => {
  const { from, to } = ring.span(-Infinity, Infinity);
  const out = [];
  for (let n = from; n < to; n += 1) {
    const value = ring.value("p50", n);
    if (!Number.isNaN(value)) out.push([n * ring.windowMs, value]);
  }
  return out;
};
"""


def test_windows_come_out_in_order_whatever_order_they_came_in(blank: Page) -> None:
    held = run(
        blank,
        "chart/ring",
        READ
        + """
        const ring = new m.WindowRing({ capacity: 100 });
        ring.put(batch([1000, 1050], { p50: [1, 2] }));
        ring.put(batch([900, 950, 1100], { p50: [-1, 0, 3] }));
        return held(ring);""",
    )
    assert held == [[900, -1], [950, 0], [1000, 1], [1050, 2], [1100, 3]]


def test_the_oldest_windows_make_room_for_new_ones(blank: Page) -> None:
    size, held = run(
        blank,
        "chart/ring",
        READ
        + """
        const ring = new m.WindowRing({ capacity: 3 });
        ring.put(batch([0, 50, 100, 150, 200], { p50: [0, 1, 2, 3, 4] }));
        ring.put(batch([50], { p50: [99] }));
        return [ring.size, held(ring)];""",
    )
    assert size == 3
    assert held == [[100, 2], [150, 3], [200, 4]]


def test_a_jump_in_time_leaves_nothing_of_the_windows_before_it(blank: Page) -> None:
    size, held, last = run(
        blank,
        "chart/ring",
        READ
        + """
        const ring = new m.WindowRing({ capacity: 4 });
        ring.put(batch([0, 50, 100, 150]));
        ring.put(batch([100_000]));
        return [ring.size, held(ring), ring.lastMs];""",
    )
    assert (size, held, last) == (1, [[100_000, 10]], 100_000)


def test_a_window_that_comes_twice_is_held_once_with_its_last_values(blank: Page) -> None:
    size, held = run(
        blank,
        "chart/ring",
        READ
        + """
        const ring = new m.WindowRing({ capacity: 9 });
        ring.put(batch([50], { p50: [1] }));
        ring.put(batch([50], { p50: [2] }));
        return [ring.size, held(ring)];""",
    )
    assert (size, held) == (1, [[50, 2]])


def test_null_is_no_value_and_zero_is_one(blank: Page) -> None:
    values = run(
        blank,
        "chart/ring",
        """
        const ring = new m.WindowRing({ capacity: 9 });
        ring.put(batch([0, 50], { p50: [null, 0] }));
        return [Number.isNaN(ring.value("p50", 0)), ring.value("p50", 1), ring.size];""",
    )
    assert values == [True, 0, 2]


def test_a_host_is_forgotten_once_its_last_window_is_gone(blank: Page) -> None:
    hosts = run(
        blank,
        "chart/ring",
        """
        const ring = new m.WindowRing({ capacity: 4 });
        const after = [];
        for (let i = 0; i < 50; i += 1) {
          ring.put({ ...batch([i * 50]), cpu: { [`pod-${i}`]: [10] } });
          after.push(ring.names("cpu").length);
        }
        return [Math.max(...after), ring.names("cpu")];""",
    )
    assert hosts == [4, ["pod-46", "pod-47", "pod-48", "pod-49"]]


def test_a_frozen_ring_takes_what_was_missing_but_never_moves_on(blank: Page) -> None:
    held, moved = run(
        blank,
        "chart/ring",
        READ
        + """
        const ring = new m.WindowRing({ capacity: 4 });
        ring.put(batch([0, 100], { p50: [0, 2] }));
        const still = ring.freeze();
        for (const r of [ring, still]) r.put(batch([50, 500], { p50: [1, 10] }));
        return [held(still), ring.lastMs];""",
    )
    assert held == [[0, 0], [50, 1], [100, 2]]
    assert moved == 500


def test_a_column_and_a_group_that_no_page_knew_are_held_by_the_names_of_the_api(
    blank: Page,
) -> None:
    held = run(
        blank,
        "chart/ring",
        """const ring = new m.WindowRing({ capacity: 100 });
        const heap = { 1: [70, null], 2: [null, 90] };
        ring.put({ ...batch([1000, 1050]), heap, files: [3, 4], notes: ["not per window"] });
        const number = ring.newest;
        const frozen = ring.freeze();
        return [ring, frozen].map((each) => [
          each.names("heap"), each.of("heap", "2", number), each.value("files", number),
          [each.value("notes", number), each.of("heap", "1", number), each.of("disk", "1", number)]
            .map(Number.isNaN)]);""",
    )
    assert held == [[["1", "2"], 90, 4, [True, True, True]]] * 2
