import re
import time
from typing import Any

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from tests.frontend import fleet, synthetic
from tests.frontend.static_server import Answer, StandIn, render

pytestmark = pytest.mark.browser

Json = dict[str, Any]


def now_ms() -> int:
    return int(time.time() * 1000)


def job(application: str, query: str, state: str = "running", age_ms: int = 400) -> Json:
    return synthetic.job(
        state,
        last_seen_ms=now_ms() - age_ms,
        id=f"{application}.{query}",
        application=application,
        query=query,
    )


def listed(items: list[Json]) -> Json:
    return {"items": items, "count": len(items), "now_ms": now_ms()}


def shown(base: str, page: Page, answer: Any) -> StandIn:
    stand_in = StandIn(base, page, lambda path, query: answer)
    stand_in.open("/", render("jobs.html"))
    return stand_in


def test_what_needs_a_look_comes_first(base: str, page: Page) -> None:
    jobs = [
        job("ads", "billing", "stopped", 7_300_000),
        job("orders", "sessions"),
        job("orders", "enrich", "stale", 43_000),
    ]
    stand_in = shown(base, page, listed(jobs))
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(3)
    expect(rows.nth(0)).to_contain_text("orders / enrich")
    expect(rows.nth(0)).to_contain_text("stale")
    # The page counts on: how long its own start took is in it.
    expect(rows.nth(0)).to_contain_text(re.compile(r"(?<!\d)(4[3-9]|5\d) s ago"))
    expect(rows.nth(1)).to_contain_text("running")
    expect(rows.nth(1)).not_to_contain_text("ago")
    expect(rows.nth(2)).to_contain_text(re.compile("2 h [12] min ago"))
    expect(page.locator("[data-summary]")).to_have_text("3 jobs, 1 stale")
    assert stand_in.errors == []


def test_a_job_without_a_run_is_listed_all_the_same(base: str, page: Page) -> None:
    shown(base, page, listed([job("clicks", "dedupe") | {"run": None}]))
    expect(page.locator("tbody tr")).to_contain_text("–")


def test_a_job_that_was_only_late_has_no_losses(base: str, page: Page) -> None:
    late = job("orders", "sessions") | {"collector": fleet.COLLECTOR | {"late": 37}}
    lossy = job("orders", "enrich") | {"collector": fleet.COLLECTOR | {"late": 1, "dropped": 4}}
    shown(base, page, listed([late, lossy]))
    cell = page.locator("tr", has_text="sessions").locator(".collector-cell span")
    expect(cell).to_have_text("ok")
    expect(cell).to_have_attribute("title", "37 parts came too late for their window")
    expect(cell).not_to_have_class("warn")
    cell = page.locator("tr", has_text="enrich").locator(".collector-cell span")
    expect(cell).to_have_text("losses")
    expect(cell).to_have_class("warn")


def test_a_row_leads_to_its_job(base: str, page: Page) -> None:
    shown(base, page, listed([job("odd/app", "q?#")]))
    link = page.locator("tbody a")
    expect(link).to_have_attribute("href", "/jobs/odd%2Fapp.q%3F%23")


def test_the_name_of_a_job_is_only_ever_text(base: str, page: Page) -> None:
    stand_in = shown(base, page, listed([job("<img src=x>", "<b>q</b>")]))
    expect(page.locator("tbody tr")).to_contain_text("<img src=x> / <b>q</b>")
    assert page.locator("tbody img").count() == 0
    assert stand_in.errors == []


def test_search_narrows_the_list_and_says_when_nothing_matches(base: str, page: Page) -> None:
    shown(base, page, listed([job("orders", "enrich"), job("ads", "billing")]))
    expect(page.locator("tbody tr:visible")).to_have_count(2)
    page.keyboard.press("/")
    page.keyboard.type("bill ADS")
    expect(page.locator("tbody tr:visible")).to_have_count(1)
    expect(page.locator("tbody tr:visible")).to_contain_text("ads / billing")
    page.keyboard.type(" nothing")
    expect(page.locator("[data-no-match]")).to_contain_text("No job matches.")
    expect(page.locator("table")).to_be_hidden()
    page.get_by_role("button", name="Show all").click()
    expect(page.locator("tbody tr:visible")).to_have_count(2)


def test_an_empty_list_gives_the_lines_to_copy(base: str, page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    shown(base, page, listed([]))
    expect(page.get_by_role("heading", name="No job has sent a frame yet")).to_be_visible()
    expect(page.get_by_role("searchbox")).to_be_hidden()
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("from collectors import instrument, stamp\nspark = instrument(")


def test_a_push_updates_the_list(base: str, page: Page) -> None:
    stand_in = shown(base, page, listed([job("orders", "enrich")]))
    expect(page.locator("tbody tr")).to_contain_text("running")
    stand_in.send(
        {"type": "jobs", "items": [job("orders", "enrich", "stale", 9000), job("ads", "x")]}
    )
    expect(page.locator("tbody tr")).to_have_count(2)
    expect(page.locator("tbody tr").first).to_contain_text("stale")


def test_trouble_is_said_in_the_words_of_the_server(base: str, page: Page) -> None:
    problem = {"title": "Redis is not reachable", "detail": "connection refused", "status": 503}
    shown(base, page, Answer(503, problem))
    expect(page.get_by_role("alert")).to_contain_text("Redis is not reachable: connection refused")
    expect(page.locator("[data-loading]")).to_be_hidden()


def test_an_old_list_does_not_look_like_a_healthy_one(base: str, page: Page) -> None:
    stand_in = StandIn(base, page, lambda path, query: listed([job("orders", "enrich")]))
    stand_in.open("/", render("jobs.html"))
    expect(page.locator("tbody tr")).to_have_count(1)
    stand_in.send({"type": "jobs", "items": [job("orders", "enrich")]})
    expect(page.locator("[data-summary]")).to_have_text("1 job")
    stand_in.api = lambda path, query: None

    def hang_up(socket: WebSocketRoute) -> None:
        socket.close(code=1011)

    stand_in.on_socket = hang_up
    stand_in.sockets[-1].close(code=1011)
    expect(page.get_by_role("alert")).to_contain_text("No answer from the server")
    expect(page.get_by_role("alert")).to_contain_text("The list is as of")
    expect(page.locator("main")).to_have_class("wide outdated")


def test_a_browser_that_is_not_logged_in_is_sent_to_the_login(base: str, page: Page) -> None:
    shown(base, page, Answer(401, {"title": "Not logged in", "status": 401}))
    expect(page).to_have_url(f"{base}/login?next=%2F")


def test_nothing_overflows_a_narrow_screen(base: str, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    long = job("an-application-with-a-long-name", "and-a-query-whose-name-does-not-end-" * 3)
    stand_in = shown(base, page, listed([long, job("a", "b", "stale", 99_000)]))
    expect(page.locator("tbody tr")).to_have_count(2)
    overflow = "document.documentElement.scrollWidth - innerWidth"
    assert page.evaluate(overflow) <= 0
    stand_in.send({"type": "jobs", "items": []})
    expect(page.locator("[data-empty]")).to_be_visible()
    assert page.evaluate(overflow) <= 0


def fleet_of(number: int) -> Json:
    return fleet.jobs(number, now_ms())


def test_a_row_says_how_a_job_does(base: str, page: Page) -> None:
    good = fleet.job(5, now_ms()) | {"p99_ms": 217.0, "backlog_rows": 4560, "watched": False}
    bad = fleet.job(10, now_ms()) | {"p99_ms": 1210.0, "open_incidents": 1}
    bad["incidents_last_hour"] = 3
    shown(base, page, listed([good, bad]))
    rows = page.locator("tbody tr")
    expect(rows.nth(0)).to_contain_text("1.21 s")
    expect(rows.nth(0)).to_contain_text("of 500 ms")
    expect(rows.nth(0)).to_contain_text("3, 1 open")
    expect(rows.nth(0)).to_have_class("violated")
    expect(rows.nth(0)).not_to_contain_text("no data")
    expect(rows.nth(1)).to_contain_text("4.56 k rows")
    expect(rows.nth(1)).to_contain_text("no data")
    expect(rows.nth(1)).to_contain_text("Delayed compactions: act")
    expect(rows.nth(1)).not_to_have_class("violated")
    assert "M" in (rows.nth(1).locator(".spark-line").get_attribute("d") or "")
    summary = page.locator("[data-summary]")
    expect(summary).to_have_text("2 jobs, 1 with an open incident, 1 over their SLO")


def test_a_run_that_warms_up_says_so_instead_of_a_latency(base: str, page: Page) -> None:
    recent = {"start_ms": now_ms() - 20_000, "step_ms": 10_000, "p99_ms": [None, None]}
    young = fleet.job(5, now_ms()) | {"warming_up": True, "p99_ms": None, "p99_recent": recent}
    shown(base, page, listed([young]))
    row = page.locator("tbody tr")
    expect(row.locator(".state")).to_have_text("runningwarming up")
    expect(row.locator(".p99")).to_have_text("–")
    expect(row.locator(".spark-line")).to_have_attribute("d", "")


def test_a_silent_job_is_stale_and_violates_nothing(base: str, page: Page) -> None:
    stale = fleet.job(17, now_ms()) | {"p99_ms": 9_000.0}
    shown(base, page, listed([stale]))
    row = page.locator("tbody tr")
    expect(row).to_have_attribute("data-state", "stale")
    expect(row).to_contain_text(re.compile(r"(?<!\d)(4[5-9]|5\d) s ago"))
    expect(row).not_to_have_class("violated")
    dot, running = page.evaluate("""() => {
      const colour = () => getComputedStyle(document.querySelector("tbody .dot")).backgroundColor;
      const stale = colour();
      document.querySelector("tbody tr").dataset.state = "running";
      return [stale, colour()];
    }""")
    assert dot != running


def test_filters_are_in_the_address(base: str, page: Page) -> None:
    stand_in = StandIn(base, page, lambda path, query: fleet_of(40))
    stand_in.open("/?state=stale&search=team", render("jobs.html"))
    rows = page.locator("tbody tr:visible")
    expect(rows).to_have_count(2)
    page.get_by_label("State").select_option("")
    page.get_by_role("button", name="ads").first.click()
    expect(rows).to_have_count(4)
    expect(page).to_have_url(re.compile(r"/\?search=team&tag=ads$"))
    expect(page.locator("[data-tag-filter]")).to_have_value("ads")
    expect(page.locator("[data-summary]")).to_contain_text("4 of 40 jobs")


def test_all_pages_of_a_long_list_are_fetched(base: str, page: Page) -> None:
    def paged(path: str, query: dict[str, str]) -> Json:
        first = int(query.get("cursor", 0))
        items = [fleet.job(number, now_ms()) for number in range(first, first + 100)]
        following = str(first + 100) if first < 400 else None
        return {"items": items, "count": 500, "next": following, "now_ms": now_ms()}

    stand_in = StandIn(base, page, paged)
    stand_in.open("/", render("jobs.html"))
    expect(page.locator("tbody tr")).to_have_count(500)
    assert stand_in.errors == []


def test_500_jobs_take_an_update_and_a_search_without_a_hitch(base: str, page: Page) -> None:
    stand_in = shown(base, page, fleet_of(500))
    expect(page.locator("tbody tr")).to_have_count(500)
    session = page.context.new_cdp_session(page)
    # CPU, not wall time: what else runs on the machine is not the page.
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def busy_s() -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return float(next(each["value"] for each in metrics if each["name"] == "TaskDuration"))

    before = busy_s()
    stand_in.send({"type": "jobs", "full": True, **fleet_of(500)})
    page.keyboard.press("/")
    page.keyboard.type("query-49")
    expect(page.locator("tbody tr:visible")).to_have_count(11)
    # Eight keys and an update of all rows, with some seconds for a machine that is slow.
    assert busy_s() - before < 3


def test_an_operator_sets_an_slo_and_tags(base: str, page: Page) -> None:
    before = fleet.job(5, now_ms())
    objective = before["slo"]["objective"]
    wanted = {**objective, "latency": {**objective["latency"], "threshold_ms": 250}}

    def answer(path: str, query: dict[str, str]) -> Any:
        if path.endswith("/slo"):
            return {"objective": wanted, "version": 2, "reason": "promised"}
        if path.endswith("/tags"):
            return {"tags": ["eu"]}
        return listed([before])

    stand_in = StandIn(base, page, answer)
    stand_in.open("/", render("jobs.html", {"role": "operator"}))
    page.get_by_role("button", name="SLO and tags").click()
    page.get_by_label("SLO: p99").fill("250")
    page.get_by_label("Tags, with").fill("eu")
    page.get_by_label("Reason").fill("promised")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("tbody tr")).to_contain_text("of 250 ms")
    expect(page.locator("tbody .tag")).to_have_text(["eu"])
    name = f"/jobs/{before['id']}"
    assert stand_in.changes == [
        ("PUT", f"{name}/slo", {"objective": wanted, "reason": "promised", "version": 1}),
        ("PUT", f"{name}/tags", {"tags": ["eu"], "reason": "promised"}),
    ]


def test_a_viewer_has_nothing_to_edit(base: str, page: Page) -> None:
    stand_in = StandIn(base, page, lambda path, query: fleet_of(2))
    stand_in.open("/", render("jobs.html", {"role": "viewer"}))
    expect(page.locator("tbody tr")).to_have_count(2)
    expect(page.get_by_role("button", name="SLO and tags")).to_have_count(0)


def test_without_redis_the_list_says_that_its_numbers_are_missing(base: str, page: Page) -> None:
    stand_in = shown(base, page, listed([job("orders", "enrich")]))
    expect(page.locator("tbody tr")).to_have_count(1)
    items = [job("orders", "enrich", "stale")]
    stand_in.send({"type": "jobs", "full": True, "store": "away", "items": items})
    expect(page.get_by_role("alert")).to_contain_text("Redis does not answer")
    expect(page.locator("main")).to_have_class("wide outdated")
