"""The operator pool on the job page: panels on the time axis, and a row per instance."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.frontend import synthetic
from tests.frontend.live import Live, flow_until, until_live, wait_for_chart
from tests.frontend.modules import run

pytestmark = pytest.mark.browser

# A pool of `many` instances of one operator; the last has a queue that grows with each window.
SET_UP = """
const { WindowRing } = await import('/static/curtail/js/chart/ring.js');
const pool = (times, many, more = {}) => ({
  name: "scores", host: "a", policy: "round-robin", operators: ["score"], replaced: 0,
  handed_out_again: 0, held_chunks: times.map(() => 1),
  instances: Array.from({ length: many }, (_, i) => ({
    name: `score-${i}`, operator: "score", state: "ready",
    queued: times.map((_, at) => (i === many - 1 ? at : 0)),
    busy: times.map(() => (i === many - 1 ? 100 : 10)),
    executed: times.map(() => 1), p99: times.map((_, at) => at) })), ...more });
const filled = (many, more = {}) => {
  const ring = new WindowRing();
  const times = Array.from({ length: 200 }, (_, i) => 1000 + i * 50);
  ring.put({ ...batch(times), pools: [pool(times, many, more)] });
  return ring;
};
"""


def queues(blank: Page, many: int) -> Any:
    return run(
        blank,
        "job/poolpanels",
        SET_UP
        + """const ring = filled(given);
        const number = ring.newest;
        const series = m.poolSeries("queued", String)({ ring });
        return series.map(({ name, at, read }) => [name, at(number), read(at(number), number)]);""",
        many,
    )


def test_a_few_instances_have_a_series_each(blank: Page) -> None:
    assert queues(blank, 2) == [["score-0", 0, "0"], ["score-1", 199, "199"]]


def test_of_many_the_longest_queue_is_shown_and_whose_it_is(blank: Page) -> None:
    assert queues(blank, 32) == [["score, longest of 32", 199, "199 score-31"]]


def test_a_job_without_a_pool_has_no_panels_for_it(blank: Page) -> None:
    without, having = run(
        blank,
        "chart/figure",
        SET_UP
        + """const { Intervals } = await import('/static/curtail/js/chart/intervals.js');
        const titles = (ring) => m.figure({ ring, intervals: new Intervals(), range: [0, 60_000],
          scale: "log", which: "processed", zone: "utc", hidden: new Set(), colours: {},
          width: 1000, state: "there" }).heads.map(({ title }) => title);
        const none = new WindowRing();
        none.put(batch([1000]));
        return [titles(none), titles(filled(2))];""",
    )
    counted = run(
        blank,
        "chart/panels",
        SET_UP
        + "return [new WindowRing(), filled(2)].map((ring) => m.presentIn({ ring }).length);",
    )
    assert counted == [len(without), len(having)]
    assert len(without) == 9
    assert [title for title in having if title not in without] == [
        "Pool queues, chunks",
        "Pool busy, % of the window",
    ]


def now(blank: Page, changes: str, end_ms: int = 11_000) -> Any:
    return run(
        blank,
        "job/poolstats",
        SET_UP
        + f"""const ring = filled(2, {changes});
        const {{ operators: [{{ instances }}], ...found }} =
          m.poolNow(ring, ring.pools.all[0], given);
        return {{ ...found, instances }};""",
        end_ms,
    )


def test_one_that_is_busy_while_chunks_wait_is_behind_and_the_other_is_not(
    blank: Page,
) -> None:
    found = now(blank, "{}")
    idle, full = found["instances"]
    assert (idle["state"], full["state"]) == ("ready", "behind")
    assert (full["queued"], round(full["busy"]), full["rate"]) == (199, 100, 20)
    assert full["p99"] == {"value": 199, "atMs": 10_950}
    assert found["goneMs"] is None
    assert found["scale"] >= 199


def test_one_that_is_busy_and_has_done_nothing_is_stuck(blank: Page) -> None:
    found = run(
        blank,
        "job/poolstats",
        SET_UP
        + """const ring = new WindowRing();
        const times = Array.from({ length: 200 }, (_, i) => 1000 + i * 50);
        const made = pool(times, 1);
        made.instances[0].executed = times.map(() => 0);
        ring.put({ ...batch(times), pools: [made] });
        return m.poolNow(ring, ring.pools.all[0], 11_000).operators[0].instances[0].state;""",
    )
    assert found == "stuck"


def test_a_pool_of_which_nothing_is_heard_is_gone_and_its_states_are_not_known(
    blank: Page,
) -> None:
    found = now(blank, "{}", 20_000)
    assert found["goneMs"] == 10_950
    assert [each["state"] for each in found["instances"]] == [None, None]


class WithPool(Live):
    """Three instances score, of which one falls behind and one is dead; one ranks."""

    hosts = ("node-a",)
    scorers = 3

    def windows(self, start_ms: int, end_ms: int) -> Any:
        made = super().windows(start_ms, end_ms)
        return {**made, "pools": [self.pool(host, made["t"]) for host in self.hosts]}

    def pool(self, host: str, times: list[int]) -> Any:
        states = ["ready"] * (self.scorers - 1) + ["dead"]
        scorers = [self.instance("score", i, state, times) for i, state in enumerate(states)]
        return {
            "name": "scores",
            "host": host,
            "policy": "round-robin",
            "operators": ["score", "rank"],
            "replaced": 1,
            "handed_out_again": 4,
            "held_chunks": [5 for _ in times],
            "instances": [*scorers, self.instance("rank", 0, "starting", times)],
        }

    def instance(self, operator: str, number: int, state: str, times: list[int]) -> Any:
        full = operator == "score" and number == 1
        works = state == "ready"
        return {
            "name": f"{operator}-{number}",
            "operator": operator,
            "state": state,
            "queued": [14 + at // synthetic.WINDOW_MS % 4 if full else 0 for at in times],
            "busy": [100.0 if full else 12.5 * works for _ in times],
            "executed": [int(works and at % 200 == 0) for at in times],
            "p99": [820.0 if full else 21.0 if works else None for _ in times],
        }


@pytest.fixture
def live(base: str, page: Page) -> WithPool:
    return WithPool(base, page, lambda path, query: None)


def row(page: Page, name: str) -> Any:
    return page.get_by_role("row").filter(has=page.get_by_role("rowheader", name=name, exact=True))


def test_which_instance_is_behind_and_which_is_dead_is_said(live: WithPool, page: Page) -> None:
    live.start()
    wait_for_chart(page)
    until_live(live)
    heads = page.locator(".panel-head h3")
    expect(heads.filter(has_text="Pool queues")).to_be_visible()
    expect(heads.filter(has_text="Pool busy")).to_be_visible()
    section = page.locator("[data-pools]")
    expect(section.get_by_role("heading", level=3)).to_have_text("scores on node-a")
    facts = section.locator(".pool-facts")
    for said in ("policy round-robin", "1 instance replaced", "4 chunks handed out again"):
        expect(facts).to_contain_text(said)
    flow_until(live, lambda: row(page, "score-1").locator(".pool-state").inner_text() != "–")
    expect(row(page, "score-1").locator(".pool-state")).to_have_text("behind")
    expect(row(page, "score-1")).to_contain_text("100\u00a0%")
    expect(row(page, "score-1")).to_contain_text("820\u00a0ms")
    expect(row(page, "score-0").locator(".pool-state")).to_have_text("ready")
    expect(row(page, "score-2").locator(".pool-state")).to_have_text("dead")
    expect(row(page, "rank-0").locator(".pool-state")).to_have_text("starting")
    # A number leads to the window it is from, where each instance has a lane.
    row(page, "score-1").get_by_role("button").click()
    expect(heads.filter(has_text="Chunks waiting at each instance")).to_be_visible()
    assert live.errors == []


def test_a_job_without_a_pool_has_no_such_section(base: str, page: Page) -> None:
    without = Live(base, page, lambda path, query: None)
    without.start()
    wait_for_chart(page)
    expect(page.locator(".panel-head")).to_have_count(9)
    expect(page.locator("[data-pools]")).to_be_hidden()
