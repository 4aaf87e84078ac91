"""The pages of clusters: utilities over time, actions with their reasons, jobs, and the size."""

import re
import time
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect
from redis import Redis

from collectors.formats import keys
from collectors.formats.announcement import to_hash
from dashboard.testing.stack import Stack
from techniques.slo.states import State
from tests.factories import announcement
from tests.frontend import clusters
from tests.frontend.modules import run
from tests.frontend.static_server import Answer, StandIn, render

pytestmark = pytest.mark.browser

Json = dict[str, Any]
JOB = "orders.enrich"
AXE = {"runOnly": ["wcag2a", "wcag2aa"]}


def now_ms() -> int:
    return int(time.time() * 1000)


class Cluster(StandIn):
    """The page of a cluster that `changes` makes different; sizes that are put are taken."""

    changes_of: Json = {}  # noqa: RUF012 - replaced, never changed
    refusal: Answer | None = None
    at_ms = 0

    def start(self, role: str = "operator") -> None:
        self.at_ms = now_ms()
        self.api = self.answer
        self.open("/clusters/prod", render("cluster.html", {"role": role, "cluster": "prod"}))
        expect(self.page.locator("[data-chart]")).not_to_have_attribute("data-drawn", "0")

    def answer(self, path: str, query: dict[str, str]) -> Any:
        assert path == "/clusters/prod"
        if "span_ms" in query:
            return clusters.cluster(self.at_ms, int(query["span_ms"]), **self.changes_of)
        if self.refusal:
            return self.refusal
        self.changes_of = {**self.changes_of, "size": self.changes[-1][2]["size"]}
        return {"name": "prod", "size": self.changes_of["size"]}


@pytest.fixture
def cluster(base: str, page: Page) -> Cluster:
    return Cluster(base, page, lambda path, query: None)


def test_a_cluster_shows_its_utility_its_actions_and_its_jobs(cluster: Cluster, page: Page) -> None:
    """One page for all of it: a page takes longer than everything that is done on it."""
    cluster.start()
    expect(page.locator("[data-state-line]")).to_contain_text("Waiting for utilities to settle")
    expect(page.locator("[data-facts]")).to_have_text(
        "Utility439 of\u00a0450 (97.5\u00a0%)SLOs met8 of\u00a09ModeactSize24\u00a0units"
    )

    # The total against its maximum, a line per job, and dots for actions, which are no lines.
    heads = page.locator(".panel-head h3")
    expect(heads).to_have_text(
        ["Utility of all jobs", *(clusters.name(each) for each in range(9, 0, -1))]
    )
    expect(page.locator("[data-chart]")).to_have_attribute("data-lines", "11")

    # Every action is a mark with its reason, and a click leads to it in the list, however old.
    marks = page.locator("[data-marks] .mark")
    expect(marks).to_have_count(12)
    expect(page.locator("[data-marks] .mark-line[data-quiet]")).to_have_count(3)
    rows = page.locator("[data-actions] > li")
    expect(rows).to_have_count(9)
    marks.first.focus()
    page.keyboard.press("Enter")
    expect(rows).to_have_count(12)
    chosen = page.locator("[data-actions] > li[data-chosen]")
    expect(chosen).to_contain_text("page-load.t9 misses its SLO, utility 36 of 90")
    expect(chosen.get_by_role("link")).to_have_attribute("href", "/jobs/page-load.t9")
    expect(marks.first).to_have_attribute("aria-expanded", "true")

    third = page.locator("[data-job-row='page-load.t3']")
    expect(third).to_contain_text("missed")
    expect(third).to_contain_text("18.6 of\u00a030")
    expect(third).to_contain_text("5.9× · 0.48×")
    expect(third).to_contain_text("41 min more: more resources hardly helped")

    page.get_by_label("Span").select_option("6 h")
    cluster.until(lambda: any("span_ms=21600000" in each for each in cluster.requests))

    page.get_by_role("button", name="Change the size").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Size")).to_have_value("24")
    dialog.get_by_label("Size").fill("99999")
    fault = {"title": "Not understood", "status": 400, "detail": "size: 1 to 10000"}
    cluster.refusal = Answer(400, fault)
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert")).to_contain_text("size: 1 to 10000")
    cluster.refusal = None
    dialog.get_by_label("Size").fill("32")
    dialog.get_by_label("Reason").fill("two more hosts")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_be_hidden()
    expect(page.locator("[data-facts]")).to_contain_text("Size32\u00a0units")
    assert cluster.changes[-1] == (
        "PUT",
        "/clusters/prod",
        {"size": 32, "reason": "two more hosts"},
    )

    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        found = Axe().run(page, options=AXE)
        assert found.violations_count == 0, found.generate_report()
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator("[data-jobs] thead")).to_have_css("position", "absolute")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert cluster.errors == []


def test_advice_is_told_as_what_would_be_done_and_a_viewer_sets_no_size(
    cluster: Cluster, page: Page
) -> None:
    cluster.changes_of = {"mode": "advise", "actions": clusters.actions(now_ms())[:1]}
    cluster.start("viewer")
    expect(page.get_by_role("heading", name="What it would do")).to_be_visible()
    expect(page.locator("[data-state-line]")).to_contain_text("Advising nothing is changed; the")
    expect(page.locator("[data-actions] > li[data-advised]")).to_have_count(1)
    expect(page.locator("[data-job-rows]")).not_to_contain_text("black-listed")
    expect(page.locator(".mark")).to_have_attribute(
        "title",
        re.compile(r"^Advised: Reconfiguration, [\d:]{8} CES?T: page-load.t1 misses its SLO"),
    )
    expect(page.get_by_role("button", name="Change the size")).to_be_hidden()
    assert cluster.errors == []


def test_without_a_cluster_the_page_says_what_to_do_with_the_lines_to_copy(
    base: str, page: Page
) -> None:
    listed: list[Json] = []
    stand_in = StandIn(base, page, lambda path, query: {"items": listed, "now_ms": now_ms()})
    stand_in.open("/clusters", render("clusters.html"))
    expect(page.get_by_role("heading", name="No job belongs to a cluster yet")).to_be_visible()
    lines = page.locator("[data-line]").all_inner_texts()
    assert f"curl -X PUT {base}/api/v1/jobs/orders.enrich/tags" in lines[0]
    assert '"objective": {"latency": {"of": "committed"' in lines[1]
    found = Axe().run(page, options=AXE)
    assert found.violations_count == 0, found.generate_report()
    # It appears without a reload.
    listed += clusters.listed(now_ms())["items"]
    row = page.locator("[data-rows] tr")
    expect(row).to_contain_text("439 of\u00a0450")
    expect(row.get_by_role("link")).to_have_attribute("href", "/clusters/prod")
    expect(page.get_by_role("heading", name="No job belongs")).to_be_hidden()
    assert stand_in.errors == []


def test_a_reason_has_its_jobs_as_links_and_is_only_ever_text(blank: Page) -> None:
    given = [
        ["a.b misses its SLO, a.b+ does not", ["a.b", "a.b+"]],
        ["<b>nothing</b> is left", ["c"]],
        ["data is back", []],
    ]
    body = """
    document.body.dataset.root = "/";
    const told = (node) => node.href ? `[${node.textContent}]` : node;
    return given.map(([says, jobs]) => m.linked(says, jobs).map(told));
    """
    assert run(blank, "cluster/actions", body, given) == [
        ["[a.b]", " misses its SLO, ", "[a.b+]", " does not"],
        ["[c]", ": ", "<b>nothing</b> is left"],
        ["data is back"],
    ]


def test_what_is_not_known_is_a_hole_in_the_line(blank: Page) -> None:
    body = """
    const columns = {total: [1, null, 3]};
    const samples = new m.Samples(10000, {t: [10000, 20000, 40000], columns});
    const told = [0, 1, 2, 3, 4].map((number) => samples.at("total", number));
    const known = told.map((value) => Number.isNaN(value) ? null : value);
    return [known, samples.span(0, 35000), samples.near(29999), samples.near(55000)];
    """
    held = run(blank, "cluster/samples", body)
    assert held == [[None, 1, None, None, 3], {"from": 1, "to": 4}, 2, None]


def test_a_tag_and_an_slo_make_a_cluster_on_a_real_server(served: Stack, page: Page) -> None:
    redis = Redis.from_url(served.redis.url)

    def beat() -> None:
        said = announcement(job_id=JOB, application="orders", query="enrich", heartbeat_ms=now_ms())
        redis.hset(keys.job(JOB), mapping=to_hash(said))  # type: ignore[arg-type]
        redis.zadd(keys.JOBS, {JOB: now_ms()})

    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    beat()
    page.goto(served.url)
    page.get_by_label("User name").fill(served.username)
    page.get_by_label("Password").fill(served.password)
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("button", name=f"Tags of {JOB}").click()
    page.get_by_label("Tags, with").fill("cluster:orders")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("button", name="cluster:orders")).to_be_visible()
    page.get_by_role("button", name=f"Tags of {JOB}").click()
    page.get_by_role("link", name="Set one on its page").click()

    # The dialog is open: that is what the link was for.
    page.get_by_label("At most, in ms").fill("250")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("[data-slo]")).to_contain_text("p99 committed ≤\u00a0250\u00a0ms")
    expect(page.locator("[data-slo]")).to_contain_text("not measured yet")
    expect(page.locator("[data-slo]")).to_contain_text("0×")

    page.get_by_role("link", name="Clusters").click()
    row = page.locator("[data-rows] tr", has_text="orders")
    expect(row).to_contain_text("0 of\u00a01")
    row.get_by_role("link").click()
    expect(page.locator(f"[data-job-row='{JOB}']")).to_contain_text(
        "p99 committed ≤\u00a0250\u00a0ms"
    )
    expect(page.locator("[data-state-line]")).to_contain_text("Off")
    page.get_by_role("button", name="Change the size").click()
    page.get_by_label("Size, in units").fill("100001")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert").filter(has_text="size")).to_be_visible()
    page.get_by_label("Size, in units").fill("16")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("[data-facts]")).to_contain_text("Size16\u00a0units")
    assert errors == []


def test_a_cluster_that_cannot_be_asked_does_not_look_as_if_it_were_of_now(
    cluster: Cluster, page: Page
) -> None:
    cluster.start()
    cluster.api = lambda path, query: None
    page.get_by_label("Span").select_option("1 day")
    expect(page.get_by_role("alert")).to_contain_text("What is shown is as of")
    expect(page.locator("main")).to_have_class("wide outdated")
    cluster.api = cluster.answer
    page.get_by_label("Span").select_option("1 h")
    expect(page.get_by_role("alert")).to_be_hidden()
    expect(page.locator("main")).not_to_have_class("wide outdated")


@pytest.mark.parametrize(
    ("mode", "state", "met", "expected"),
    [
        ("act", "converged", True, ["Converged", "all SLOs are met · for 2 min", "good"]),
        (
            "act",
            "converged",
            False,
            ["Converged", "nothing more would help now · for 2 min", "good"],
        ),
        ("act", "blind", None, ["Waiting for data", "of some job there is none", "warn"]),
        ("act", None, None, ["–", "nothing is known of it yet", "quiet"]),
        ("act", "a state of tomorrow", None, ["–", "nothing is known of it yet", "quiet"]),
        ("advise", "watching", True, ["Advising", "nothing is changed; all SLOs are met", "quiet"]),
        ("advise", "blind", None, ["Advising", "nothing is changed; of some job", "quiet"]),
        ("off", None, None, ["Off", "the technique is switched on for none", "quiet"]),
    ],
)
def test_a_state_is_said_with_what_it_means(
    blank: Page, mode: str, state: str | None, met: bool | None, expected: list[str]
) -> None:
    jobs = [{"objective": {}, "met": met}, {"objective": None, "met": None}]
    given = {"mode": mode, "state": state, "jobs": jobs, "since_ms": 60_000, "now_ms": 180_000}
    said = run(blank, "cluster/states", "return m.stateWords(given)", given)
    assert (said["word"], said["tone"]) == (expected[0], expected[2])
    assert said["detail"].replace("\u00a0", " ").startswith(expected[1])


def test_every_state_of_the_machine_has_its_words(blank: Page) -> None:
    body = "return given.filter((state) => m.stateName(state, 'act') === '–')"
    assert run(blank, "cluster/states", body, [str(each) for each in State]) == []
