"""The operator pool on the job page: panels on the time axis, and a row per instance."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.frontend import synthetic
from tests.frontend.live import Live, flow_until, until_live, wait_for_chart
from tests.frontend.modules import run

pytestmark = pytest.mark.browser

# A pool of `many` instances of one operator; the last has a queue that grows with each window.
# `more` adds to the pool, `own` to each instance: from the times, and the instance's number.
SET_UP = """
const { WindowRing } = await import('/static/curtail/js/chart/ring.js');
const pool = (times, many, more = () => ({}), own = () => ({})) => ({
  name: "scores", host: "a", policy: "round-robin", operators: ["score"], replaced: 0,
  handed_out_again: 0, held_chunks: times.map(() => 1),
  instances: Array.from({ length: many }, (_, i) => ({
    name: `score-${i}`, operator: "score", state: "ready",
    queued: times.map((_, at) => (i === many - 1 ? at : 0)),
    busy: times.map(() => (i === many - 1 ? 100 : 10)),
    executed: times.map(() => 1), p99: times.map((_, at) => at), ...own(times, i) })),
  ...more(times) });
const filled = (many, more, own) => {
  const ring = new WindowRing();
  const times = Array.from({ length: 200 }, (_, i) => 1000 + i * 50);
  ring.put({ ...batch(times), pools: [pool(times, many, more, own)] });
  return ring;
};
"""

# What a pool's columns have while nothing but round robin is on.
NOTHING_ON = """times => ({ replay: "off", tau_ms: 0, timeout: times.map(() => null),
  replayed: times.map(() => 0), sent: times.map(() => 2), won: times.map(() => 0),
  shared_queued: times.map(() => 0) })"""
NOTHING_OF_ONE = """times => ({ parked: times.map(() => 0), weight: times.map(() => null),
  signal: times.map(() => 1) })"""
# Every 50th window a chunk is replayed, of 2 in each; every second replay wins.
REPLAYING = f"""times => ({{ ...({NOTHING_ON})(times), replay: "adaptive",
  timeout: times.map((_, at) => (at < 20 ? null : 240)),
  replayed: times.map((_, at) => (at % 50 === 49 ? 1 : 0)),
  won: times.map((_, at) => (at % 100 === 99 ? 1 : 0)) }})"""
SHARED = f"""times => ({{ ...({NOTHING_ON})(times), policy: "shared-queue",
  shared_queued: times.map((_, at) => at % 10) }})"""
WEIGHING = f"""times => ({{ ...({NOTHING_ON})(times), policy: "latency-weighted" }})"""
WEIGHTS = f"""(times, i) => ({{ ...({NOTHING_OF_ONE})(times),
  weight: times.map(() => (i === 0 ? 10 : 20 + i)) }})"""
IN_TURN = f"times => ({{ ...({NOTHING_ON})(times), tau_ms: 80 }})"
PARKED = f"""(times, i) => ({{ ...({NOTHING_OF_ONE})(times), parked: times.map(() => 3 * i),
  signal: times.map((_, at) => (at % 4 === 0) === (i === 0) ? 1 : 0) }})"""


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


def now(
    blank: Page, changes: str = NOTHING_ON, own: str = NOTHING_OF_ONE, end_ms: int = 11_000
) -> Any:
    return run(
        blank,
        "job/poolstats",
        SET_UP
        + f"""const ring = filled(2, {changes}, {own});
        const {{ operators: [{{ instances }}], ...found }} =
          m.poolNow(ring, ring.pools.all[0], given);
        return {{ ...found, instances }};""",
        end_ms,
    )


def test_one_that_is_busy_while_chunks_wait_is_behind_and_the_other_is_not(
    blank: Page,
) -> None:
    found = now(blank)
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
    found = now(blank, end_ms=20_000)
    assert found["goneMs"] == 10_950
    assert [each["state"] for each in found["instances"]] == [None, None]


@pytest.mark.parametrize(
    ("changes", "own", "more"),
    [
        (NOTHING_ON, NOTHING_OF_ONE, []),
        (REPLAYING, NOTHING_OF_ONE, ["pool-timeout"]),
        (WEIGHING, WEIGHTS, ["pool-weights"]),
        (IN_TURN, PARKED, ["pool-outgoing"]),
        # The shared queue is a line among the others.
        (SHARED, NOTHING_OF_ONE, []),
    ],
    ids=["nothing", "replay", "weights", "in turn", "shared"],
)
def test_a_panel_is_there_once_a_technique_has_something_to_show(
    blank: Page, changes: str, own: str, more: list[str]
) -> None:
    found = run(
        blank,
        "chart/panels",
        SET_UP
        + f"""const ring = filled(2, {changes}, {own});
        return m.presentIn({{ ring }}).map(({{ id }}) => id);""",
    )
    assert [each for each in found if each.startswith("pool-")] == [
        "pool-queues",
        "pool-busy",
        *more,
    ]


def series(blank: Page, panel: str, many: int, changes: str, own: str, at: str = "newest") -> Any:
    """[name, value, how it is read] of each series of a panel in a window."""
    return run(
        blank,
        "chart/panels",
        SET_UP
        + f"""const ring = filled({many}, {changes}, {own});
        const number = "{at}" === "newest" ? ring.newest : ring.newest - Number("{at}");
        const {{ series }} = m.PANELS.find(({{ id }}) => id === "{panel}");
        return series({{ ring }}).map(({{ name, at, read }}) =>
          [name, Number.isNaN(at(number)) ? null : at(number), read(at(number), number)]);""",
    )


def test_each_instance_has_its_weight_as_a_line(blank: Page) -> None:
    assert series(blank, "pool-weights", 3, WEIGHING, WEIGHTS) == [
        ["score-0", 10, "10.0\u00a0%"],
        ["score-1", 21, "21.0\u00a0%"],
        ["score-2", 22, "22.0\u00a0%"],
    ]


def test_of_many_the_lowest_weight_is_shown_beside_the_highest(blank: Page) -> None:
    assert series(blank, "pool-weights", 12, WEIGHING, WEIGHTS) == [
        ["score, highest of 12", 31, "31.0\u00a0% score-11"],
        ["score, lowest of 12", 10, "10.0\u00a0% score-0"],
    ]


def test_the_weight_of_an_only_instance_is_not_drawn(blank: Page) -> None:
    assert series(blank, "pool-weights", 1, WEIGHING, WEIGHTS) == []


def test_a_window_in_which_chunks_were_replayed_is_marked_on_the_line_of_the_timeout(
    blank: Page,
) -> None:
    with_one = series(blank, "pool-timeout", 2, REPLAYING, NOTHING_OF_ONE)
    assert with_one == [["timeout", 240, "240\u00a0ms"], ["chunks replayed", 240, "1"]]
    without = series(blank, "pool-timeout", 2, REPLAYING, NOTHING_OF_ONE, at="1")
    assert without == [["timeout", 240, "240\u00a0ms"], ["chunks replayed", None, "0"]]


def test_markers_are_dots_without_a_line_between_them(blank: Page) -> None:
    lines, dots = run(
        blank,
        "chart/figure",
        SET_UP
        + f"""const {{ Intervals }} = await import('/static/curtail/js/chart/intervals.js');
        const {{ PANELS }} = await import('/static/curtail/js/chart/panels.js');
        const panels = PANELS.filter(({{ id }}) => id === "pool-timeout");
        const drawn = m.figure({{ ring: filled(2, {REPLAYING}), intervals: new Intervals(),
          range: [0, 12_000], scale: "log", which: "processed", zone: "utc", hidden: new Set(),
          colours: {{}}, width: 1000, state: "there", panels }});
        const marked = ({{ look }}) => look.marker;
        return [drawn.lines.filter(marked).length, drawn.dots.filter(marked).flatMap(
          ({{ x, y }}) => x.filter((_, i) => y[i] !== null))];""",
    )
    assert lines == 0
    # The 50th, 100th, 150th and 200th window.
    assert dots == [1000 + 50 * at for at in (49, 99, 149, 199)]


def test_the_shared_queue_is_a_line_among_the_queues_of_instances(blank: Page) -> None:
    found = series(blank, "pool-queues", 2, SHARED, NOTHING_OF_ONE)
    assert found[0] == ["shared queue", 9, "9"]
    assert [name for name, *_ in found[1:]] == ["score-0", "score-1"]


def test_close_up_a_lane_is_thick_while_its_instance_may_send_and_thin_while_it_waits(
    blank: Page,
) -> None:
    found = run(
        blank,
        "job/poolpanels",
        SET_UP
        + f"""const lanes = m.outgoingLanes()({{ ring: filled(2, {IN_TURN}, {PARKED}),
          range: [1000, 1400] }});
        return lanes.map(({{ label, parts }}) => [label, parts.filter(({{ items }}) => items.length)
          .map(({{ look, items }}) => [look.width > 4, items])]);""",
    )
    # Nothing is parked at the first. The second waits in every fourth window of eight.
    assert found == [
        ["score-0", []],
        [
            "score-1",
            [
                [True, [[1050, 1200], [1250, 1400]]],
                [False, [[1000, 1050], [1200, 1250]]],
            ],
        ],
    ]


def test_what_replays_cost_and_how_many_won_is_of_the_last_minute(blank: Page) -> None:
    found = now(blank, REPLAYING)
    assert found["replays"] == {"chunks": 400, "sentAgain": 4, "won": 2, "cost": 1}
    assert found["timeout"] == 240


def test_what_an_instance_may_send_is_a_share_of_the_last_seconds(blank: Page) -> None:
    first, second = now(blank, IN_TURN, PARKED)["instances"]
    assert (first["parked"], second["parked"]) == (0, 3)
    assert (round(first["sends"]), round(second["sends"])) == (25, 75)


def rules(blank: Page, changes: str, current: bool = True) -> Any:
    return run(
        blank,
        "job/poolwords",
        SET_UP
        + f"""const {{ poolNow }} = await import('/static/curtail/js/job/poolstats.js');
        const ring = filled(2, {changes});
        return m.rules(poolNow(ring, ring.pools.all[0], 11_000), given)
          .map(({{ says, by }}) => [says.replaceAll("\\u00a0", " "), by]);""",
        current,
    )


def test_what_governs_the_pool_is_said_in_sentences(blank: Page) -> None:
    in_turn = ["Each instance gets a chunk in turn, whatever waits there.", "policy round-robin"]
    assert rules(blank, NOTHING_ON) == [in_turn]
    assert rules(blank, REPLAYING) == [
        in_turn,
        [
            "A chunk older than 240 ms is sent again, once, to another instance. "
            "In the last minute: 4 of 400 chunks, a cost of 1.00 %; 2 copies came back first.",
            "adaptive timeout",
        ],
    ]
    assert rules(blank, SHARED) == [
        [
            "All instances of an operator draw from one queue, in which 9 chunks wait.",
            "policy shared-queue",
        ]
    ]
    assert rules(blank, WEIGHING)[0][1] == "policy latency-weighted"
    assert rules(blank, IN_TURN) == [
        in_turn,
        [
            "Every 80 ms the one with the most to send on is chosen, and only it sends.",
            "largest backlog first",
        ],
    ]


def test_a_timeout_that_is_not_known_yet_is_said_to_be_measured(blank: Page) -> None:
    young = f"times => ({{ ...({REPLAYING})(times), timeout: times.map(() => null) }})"
    assert "is being measured" in rules(blank, young)[1][0]


def test_a_server_of_an_older_version_says_nothing_of_replays_or_signals(blank: Page) -> None:
    assert len(rules(blank, "() => ({})")) == 1


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
            "replay": "off",
            "tau_ms": 0,
            "timeout": [None for _ in times],
            "sent": [1 for _ in times],
            "replayed": [0 for _ in times],
            "won": [0 for _ in times],
            "shared_queued": [0 for _ in times],
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
            "parked": [0 for _ in times],
            "weight": [None for _ in times],
            "signal": [1 for _ in times],
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
    expect(section.locator(".pool-rules")).to_contain_text("policy round-robin")
    facts = section.locator(".pool-facts")
    for said in ("1 instance replaced", "4 chunks handed out again"):
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


class WithTechniques(WithPool):
    """Whatever `on` has is in force, and was for some seconds: all of it only in pictures."""

    on: frozenset[str] = frozenset()

    def pool(self, host: str, times: list[int]) -> Any:
        made = super().pool(host, times)
        if "shared_queue" in self.on:
            made |= {"policy": "shared-queue", "shared_queued": [at // 700 % 6 for at in times]}
        if "latency_balancing" in self.on:
            made["policy"] = "latency-weighted"
        if "adaptive_timeout" in self.on:
            made |= {
                "replay": "adaptive",
                "timeout": [180.0 + at // 1000 % 7 * 9 for at in times],
                "replayed": [int(at % 4_000 == 0) for at in times],
                "won": [int(at % 8_000 == 0) for at in times],
            }
        if "largest_backlog" in self.on:
            made["tau_ms"] = 80
        return made

    def instance(self, operator: str, number: int, state: str, times: list[int]) -> Any:
        made = super().instance(operator, number, state, times)
        if "latency_balancing" in self.on:
            start = 100 / (self.scorers if operator == "score" else 1)
            moved = {0: 8.0, 1: -16.0}.get(number, 8.0) if operator == "score" else 0.0
            made["weight"] = [start + moved * (at // 5_000 % 12) / 12 for at in times]
        if "largest_backlog" in self.on and operator == "score":
            made["parked"] = [(at // 350 + 5 * number) % 9 for at in times]
            made["signal"] = [int(at // 100 % self.scorers == number) for at in times]
        return made


@pytest.fixture
def steered(base: str, page: Page) -> WithTechniques:
    return WithTechniques(base, page, lambda path, query: None)


def test_a_technique_that_is_switched_on_appears_and_goes_without_a_reload(
    steered: WithTechniques, page: Page
) -> None:
    steered.start()
    wait_for_chart(page)
    until_live(steered)
    heads = page.locator(".panel-head h3")
    rules = page.locator("[data-pools] .pool-rules")
    weight = page.get_by_role("columnheader", name="Weight").first
    expect(heads).to_have_count(11)
    expect(weight).to_be_hidden()

    steered.on = frozenset({"latency_balancing", "adaptive_timeout"})
    flow_until(steered, lambda: "policy latency-weighted" in rules.inner_text())
    expect(rules).to_contain_text("is sent again, once, to another instance")
    expect(heads.filter(has_text="Pool weights")).to_be_visible()
    expect(heads.filter(has_text="Replay timeout")).to_be_visible()
    expect(weight).to_be_visible()

    steered.on = frozenset({"shared_queue", "largest_backlog"})
    flow_until(steered, lambda: "policy shared-queue" in rules.inner_text())
    expect(rules).to_contain_text("largest backlog first")
    expect(page.get_by_role("columnheader", name="May send").first).to_be_visible()
    expect(weight).to_be_hidden()
    # What was is still in view.
    expect(heads.filter(has_text="Pool weights")).to_be_visible()

    steered.on = frozenset()
    flow_until(steered, lambda: "policy round-robin" in rules.inner_text())
    expect(page.get_by_role("columnheader", name="May send").first).to_be_hidden()
    assert steered.errors == []
