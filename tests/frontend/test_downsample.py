import random

import pytest
from playwright.sync_api import Page

from tests.frontend.modules import run

pytestmark = pytest.mark.browser

REDUCE = """
const reduce = (values, bucketMs, from = 0, gapMs = 1500) =>
  m.reduce((n) => values[n - from] ?? NaN,
           { from, to: from + values.length, windowMs: 50, bucketMs, gapMs });
"""


def test_every_bucket_keeps_its_minimum_and_its_maximum(blank: Page) -> None:
    chance = random.Random(7)
    cases = [
        {
            "values": [
                None if chance.random() < holes else chance.lognormvariate(5, 1)
                for _ in range(chance.randrange(1, 900))
            ],
            "bucketMs": 50 * chance.randrange(1, 60),
            "from": chance.randrange(0, 10_000),
        }
        for holes in (0, 0.3, 0.8, 0.97)
        for _ in range(60)
    ]
    faults = run(
        blank,
        "chart/downsample",
        REDUCE
        + """
        const faults = [];
        for (const { values, bucketMs, from } of given) {
          const { x, y } = reduce(values, bucketMs, from);
          const kept = new Map(x.map((at, i) => [at, y[i]]).filter(([, v]) => v !== null));
          const buckets = Map.groupBy(
            values.map((v, i) => [(from + i) * 50, v]).filter(([, v]) => v !== null),
            ([at]) => Math.floor(at / bucketMs));
          for (const points of buckets.values()) {
            const wanted = points.map(([, v]) => v);
            const got = points.filter(([at]) => kept.has(at)).map(([at]) => kept.get(at));
            if (Math.min(...wanted) !== Math.min(...got)) faults.push("minimum lost");
            if (Math.max(...wanted) !== Math.max(...got)) faults.push("maximum lost");
          }
          if (x.some((at, i) => i && at < x[i - 1])) faults.push("out of order");
          for (const [at, v] of kept) if (values[at / 50 - from] !== v) faults.push("made up");
        }
        return faults;""",
        cases,
    )
    assert faults == []


def test_a_spike_of_one_window_survives_at_any_width_and_place(blank: Page) -> None:
    lost = run(
        blank,
        "chart/downsample",
        REDUCE
        + """
        const lost = [];
        for (const buckets of [1, 2, 7, 99, 300, 700, 1400]) {
          const bucketMs = m.bucketLength(18000 * 50, buckets, 50);
          for (let place = 0; place < 18000; place += 997) {
            const values = new Array(18000).fill(180);
            values[place] = 2000;
            const { x, y } = reduce(values, bucketMs);
            if (Math.max(...y) !== 2000) lost.push([buckets, place]);
            if (x.length > 3 * buckets + 4) lost.push([buckets, x.length]);
          }
        }
        return lost;""",
    )
    assert lost == []


def test_a_short_gap_is_joined_and_a_long_one_is_not(blank: Page) -> None:
    y = run(
        blank,
        "chart/downsample",
        REDUCE
        + """
        const values = [1, ...new Array(29).fill(null), 2, ...new Array(30).fill(null), 3, 4];
        return reduce(values, 50).y;""",
    )
    assert y == [1, 2, None, 3, 4]


def test_a_point_without_neighbours_is_listed_as_lone(blank: Page) -> None:
    lone = run(
        blank,
        "chart/downsample",
        REDUCE
        + """
        const far = new Array(40).fill(null);
        return reduce([5, ...far, 6, 7, ...far, 8], 50).lone;""",
    )
    assert lone == {"x": [0, 83 * 50], "y": [5, 8]}


def test_buckets_do_not_move_with_the_view(blank: Page) -> None:
    """Or the picture shimmers while it scrolls."""
    same = run(
        blank,
        "chart/downsample",
        REDUCE
        + """
        const value = (n) => (n * 7919) % 1000;
        const options = { windowMs: 50, bucketMs: 500, gapMs: 1500 };
        const early = m.reduce(value, { from: 1000, to: 3000, ...options });
        const later = m.reduce(value, { from: 1003, to: 3003, ...options });
        const inner = ({ x }) => x.filter((at) => at >= 60_000 && at < 140_000).join();
        return inner(early) === inner(later);""",
    )
    assert same is True
