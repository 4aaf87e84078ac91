from typing import Any

import pytest
from playwright.sync_api import Page

from tests.frontend.modules import run

pytestmark = pytest.mark.browser

# (after so many seconds, so many late since the run began)
Told = list[tuple[int, int | None]]


def goes_on(blank: Page, told: Told) -> Any:
    return run(
        blank,
        "job/health",
        """const lateness = new m.Lateness();
        return given.map(([s, late]) => lateness.told(late, s * 1000)).at(-1);""",
        told,
    )


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ([(0, 40)], False),
        ([(0, 0), (2, 12), (4, 40), (60, 40)], False),  # a JVM that warms up
        ([(0, 40), (300, 41)], False),  # a moment, long after
        ([(s, s) for s in range(0, 30, 2)], True),
        ([(0, 1), (2, 2), (30, 3)], True),
        ([*((s, s) for s in range(0, 30, 2)), (100, 28)], False),  # it is over
        ([*((s, s) for s in range(0, 30, 2)), (32, 1), (34, 2)], False),  # another run
        ([(0, None), (2, 5), (4, None)], False),
    ],
)
def test_lateness_is_only_seen_where_it_goes_on(blank: Page, told: Told, expected: bool) -> None:
    assert goes_on(blank, told) is expected


def test_late_parts_are_no_losses(blank: Page) -> None:
    lost, late, line = run(
        blank,
        "job/health",
        "return [m.losses(given), m.lateParts(given), m.healthLine(given)];",
        {"dropped": 0, "late": 3, "lost_parts": 0},
    )
    assert lost == ""
    assert late == "3 parts came too late for their window"
    assert line == "Collector: nothing lost · 3 parts came too late for their window."


def test_what_the_worker_could_not_read_is_told_after_the_collectors_health(blank: Page) -> None:
    line = run(blank, "job/health", "return m.healthLine(given, '3 entries');", {"late": 0})
    assert line == (
        "Collector: nothing lost. The worker did not understand all of this job: 3 entries."
    )


def test_what_was_lost_is_told_apart_from_what_was_late(blank: Page) -> None:
    line = run(blank, "job/health", "return m.healthLine(given);", {"lost_parts": 2, "late": 1})
    assert "2 parts lost between executor and collector; the chart lacks what they held" in line
    assert "1 part came too late" in line
