from typing import Any

import pytest
from playwright.sync_api import Page

from tests.frontend.modules import run

pytestmark = pytest.mark.browser


def job(name: str, state: str = "running", **more: Any) -> dict[str, Any]:
    return {"id": name, "application": "a", "query": name, "state": state, "run": None, **more}


def test_the_worst_comes_first(blank: Page) -> None:
    jobs = [
        job("ended", "ended", p99_ms=9_999, open_incidents=0),
        job("calm", p99_ms=10, slo={"ratio": 0.02}),
        job("slow", p99_ms=900),
        job("stale", "stale", p99_ms=20),
        job("over", p99_ms=600, slo={"ratio": 1.2}),
        job("far over", p99_ms=300, slo={"ratio": 3}),
        job("incident", p99_ms=5, open_incidents=1),
        job("old server"),
    ]
    order = run(
        blank, "fleet/worst", "return given.toSorted(m.byWorst).map(({ query }) => query);", jobs
    )
    assert order == [
        "incident",
        "far over",
        "over",
        "stale",
        "slow",
        "calm",
        "old server",
        "ended",
    ]


def test_a_job_that_sends_nothing_does_not_count_as_over_its_slo(blank: Page) -> None:
    violates = run(
        blank,
        "fleet/worst",
        "return given.map(m.violates);",
        [
            job("a", p99_ms=600, slo={"ratio": 1.2}),
            job("b", "stale", p99_ms=600, slo={"ratio": 1.2}),
            job("c", p99_ms=None, slo={"ratio": None}),
            job("d", p99_ms=600, slo=None),
        ],
    )
    assert violates == [True, False, False, False]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, ["x", "y", "z"]),
        ({"state": "stale"}, ["y"]),
        ({"state": "incident"}, ["x"]),
        ({"state": "ended"}, ["z"]),
        ({"tag": "eu"}, ["x", "z"]),
        ({"tag": "eu", "words": ["z"]}, ["z"]),
        ({"words": ["pay"]}, ["x"]),
    ],
)
def test_jobs_are_found_by_words_state_and_tag(
    blank: Page, wanted: dict[str, Any], found: list[str]
) -> None:
    jobs = [
        job("x", tags=["eu", "payments"], open_incidents=1),
        job("y", "stale"),
        job("z", "stopped", tags=["eu"]),
    ]
    got = run(
        blank,
        "fleet/worst",
        "return given[0].filter((job) => m.matches(job, given[1])).map(({ query }) => query);",
        [jobs, {"words": [], "state": "", "tag": "", **wanted}],
    )
    assert got == found


def test_a_sparkline_leaves_gaps_and_draws_a_lone_value(blank: Page) -> None:
    path = run(blank, "fleet/sparkline", "return m.sparkPath([10, 20, null, 5], 20);")
    assert path.count("M") == 2
    assert path.startswith("M2.0,12.0L2.0,12.0L40.7,2.0M118.0,")
    assert run(blank, "fleet/sparkline", "return m.sparkPath([null, null], 20);") == ""


def test_tags_are_read_from_what_was_typed(blank: Page) -> None:
    assert run(blank, "fleet/jobedit", 'return m.tagsOf(" eu, payments,,eu ");') == [
        "eu",
        "payments",
    ]
