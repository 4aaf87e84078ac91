"""The SLO on the job page: its line, and the dialog that sets it."""

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.frontend.clusters import objective
from tests.frontend.live import JOB, Live, wait_for_chart
from tests.frontend.static_server import Answer

pytestmark = pytest.mark.browser

Json = dict[str, Any]
PATH = f"/jobs/{JOB.id}/slo"
MISSED = {
    "objective": objective(35, threshold_ms=500),
    "version": 3,
    "latency_ms": 1000.0,
    "juice": None,
    "utility": 17.5,
    "ratio": 2.0,
    "violated_ms": None,
}
BUDGETS = {"1h": {"burn_rate": 3.4}, "1d": {"burn_rate": 0.41}}


class WithSlo(Live):
    slo: Json | None = None
    puts = 0
    refused: list[Answer]

    def answer(self, path: str, query: dict[str, str]) -> Any:
        if path == f"/jobs/{JOB.id}":
            return {**super().answer(path, query), "slo": self.slo}
        if path == PATH and len(self.changes) == self.puts:
            assert self.slo is not None
            told = {key: self.slo[key] for key in ("objective", "version")}
            return {**told, "reason": "", "budgets": BUDGETS}
        if path == PATH:
            self.puts += 1
            if self.refused:
                return self.refused.pop(0)
            objective = self.changes[-1][2]["objective"]
            version = 0 if objective is None else 4
            self.slo = objective and {**MISSED, "objective": objective, "version": version}
            return {"objective": objective, "version": version, "reason": ""}
        return super().answer(path, query)


@pytest.fixture
def live(base: str, page: Page) -> WithSlo:
    made = WithSlo(base, page, lambda path, query: None)
    made.refused = []
    return made


def text(page: Page) -> str:
    return " ".join(page.locator("[data-slo]").inner_text().split())


def test_an_operator_sets_changes_and_withdraws_an_slo(live: WithSlo, page: Page) -> None:
    """One page for all of it: a page takes longer than everything that is done on it."""
    live.start("?latency=committed")
    wait_for_chart(page)
    expect(page.locator("[data-slo-words]")).to_have_text("none")
    lines = int(page.locator("[data-chart]").get_attribute("data-lines") or 0)
    page.get_by_role("button", name="Set an SLO").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Latency", exact=True)).to_be_checked()
    expect(dialog.get_by_role("button", name="Withdraw")).to_be_hidden()

    # Wrong: said at the field, and nothing is sent.
    dialog.get_by_label("At most, in ms").fill("0")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_label("At most, in ms")).to_have_attribute("aria-invalid", "true")
    expect(dialog.get_by_label("At most, in ms")).to_be_focused()
    expect(dialog.locator("small.field-error")).to_have_text(
        "Above 0, at most 3600000 ms (an hour)."
    )
    assert live.changes == []

    dialog.get_by_label("At most, in ms").fill("500")
    expect(dialog.locator("small.field-error")).to_have_count(0)
    dialog.get_by_role("checkbox", name="Juice").check()
    dialog.get_by_label("At least, from 0 to 1").fill("0.9")
    dialog.get_by_label("What less than that is worth").select_option("points")
    points = dialog.get_by_role("group", name="Points of the juice's utility")
    expect(points.get_by_label("Juice")).to_have_count(2)
    points.get_by_role("button", name="Add a point").click()
    points.get_by_label("Juice").nth(2).fill("0.5")
    points.get_by_label("Worth").nth(2).fill("0.2")
    expect(dialog.locator("[data-picture=juice]")).to_have_text(
        "Values that rise from point to point."
    )
    points.get_by_label("Juice").nth(2).fill("1")
    points.get_by_label("Worth").nth(2).fill("1")
    pictures = dialog.get_by_role("img", name="Utility: all of 17.5")
    expect(pictures).to_have_count(2)
    dialog.get_by_label("Priority").fill("70")
    expect(dialog.get_by_role("img", name="Utility: all of 35")).to_have_count(2)
    dialog.get_by_label("Reason").fill("promised")

    # What the server refuses stands at its field as well.
    fault = {"field": "objective.latency.threshold_ms", "detail": "too much for this job"}
    live.refused = [Answer(400, {"title": "Not understood", "status": 400, "faults": [fault]})]
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.locator("small.field-error")).to_have_text("too much for this job.")

    # Somebody was quicker: said, and the next try is on top of theirs.
    current = {"objective": objective(20, threshold_ms=200), "version": 9, "reason": ""}
    live.refused = [Answer(409, {"title": "Changed meanwhile", "status": 409, "current": current})]
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert")).to_contain_text("p99 committed ≤ 200 ms · priority 20")
    page.emulate_media(color_scheme="dark")
    found = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa"]})
    assert found.violations_count == 0, found.generate_report()
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_be_hidden()
    knee = {"shape": "knee"}
    wanted = {
        "latency": {"of": "committed", "statistic": "p99", "threshold_ms": 500, "utility": knee},
        "juice": {
            "threshold": 0.9,
            "utility": {"shape": "points", "points": [[0, 0], [0.9, 1], [1, 1]]},
        },
        "priority": 70,
    }
    assert live.changes[-1] == (
        "PUT",
        PATH,
        {"objective": wanted, "version": 9, "reason": "promised"},
    )

    expect(page.locator("[data-slo-words]")).to_have_text(
        "p99 committed ≤\u00a0500\u00a0ms · juice ≥\u00a00.9 · priority\u00a070"
    )
    # The chart has the line of the SLO.
    expect(page.locator("[data-chart]")).to_have_attribute("data-lines", str(lines + 1))
    page.get_by_role("button", name="Change").click()
    dialog.get_by_role("button", name="Withdraw").click()
    expect(page.locator("[data-slo-words]")).to_have_text("none")
    assert live.changes[-1] == ("PUT", PATH, {"objective": None, "version": 4, "reason": ""})
    assert live.errors == []


def test_a_viewer_reads_the_slo_and_how_the_job_stands_to_it(live: WithSlo, page: Page) -> None:
    live.role = "viewer"
    live.slo = MISSED
    live.start()
    expect(page.locator("[data-slo]")).to_have_attribute("data-met", "false")
    expect(page.locator("[data-slo-facts]")).to_contain_text("0.41×")
    assert text(page) == (
        "SLO p99 committed ≤ 500 ms · priority 35 Now missed: 1.00 s Utility 17.5 of 35 "
        "Burn 1 h 3.4× 1 d 0.41× Show"
    )
    page.get_by_role("button", name="Show").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("At most, in ms")).to_be_disabled()
    expect(dialog.get_by_label("At most, in ms")).to_have_value("500")
    expect(dialog.get_by_role("img")).to_have_attribute(
        "aria-label",
        "Utility: all of 35 for latency up to 500\u00a0ms; knee; now 1\u00a0s gives 17.5",
    )
    for name in ("Save", "Withdraw"):
        expect(dialog.get_by_role("button", name=name)).to_be_hidden()
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_be_hidden()
    assert live.errors == []
