"""What the browser draws and says of SLOs, against what Python decides by."""

from typing import Any

import pytest
from playwright.sync_api import Page

from techniques.slo.objective import Invalid, JuiceTarget, LatencyTarget, parse
from tests.frontend.modules import run

pytestmark = pytest.mark.browser

POINTS = {
    "latency": [[100, 1], [400, 0.5], [400.5, 0.1], [2000, 0]],
    "juice": [[0.1, 0], [0.5, 0.25], [0.95, 1]],
}
VALUES: dict[str, list[float]] = {
    "latency": [0, 60, 499, 500, 501, 750, 1000, 1500, 9000],
    "juice": [0, 0.3, 0.9, 0.95, 1],
}
SHAPES = ("knee", "linear", "step", "points")


def utility(kind: str, shape: str) -> dict[str, Any]:
    return {"shape": shape, **({"points": POINTS[kind]} if shape == "points" else {})}


def target(kind: str, shape: str) -> LatencyTarget | JuiceTarget:
    threshold = {"threshold_ms": 500} if kind == "latency" else {"threshold": 0.95}
    found = getattr(parse({kind: {**threshold, "utility": utility(kind, shape)}}), kind)
    assert found is not None
    return found  # type: ignore[no-any-return]


@pytest.mark.parametrize("kind", ["latency", "juice"])
def test_a_value_is_drawn_as_worth_what_it_counts_for(blank: Page, kind: str) -> None:
    threshold = 500 if kind == "latency" else 0.95
    given = [kind, threshold, [utility(kind, shape) for shape in SHAPES], VALUES[kind]]
    body = """
    const [kind, threshold, utilities, values] = given;
    return utilities.map((each) => values.map((value) => m.share(kind, threshold, each, value)));
    """
    drawn = run(blank, "slo/utility", body, given)
    assert isinstance(drawn, list)
    for shape, shares in zip(SHAPES, drawn, strict=True):
        counted = [target(kind, shape).share(value) for value in VALUES[kind]]
        assert shares == pytest.approx(counted), shape


@pytest.mark.parametrize(
    ("kind", "points"),
    [
        ("latency", [[100, 1], [200, 0.5]]),
        ("latency", [[100, 0.5], [200, 0.5]]),
        ("latency", [[100, 0.5], [200, 0.6]]),
        ("latency", [[200, 1], [100, 0.5]]),
        ("latency", [[100, 1]]),
        ("latency", [[-1, 1], [100, 0.5]]),
        ("latency", [[0, 1], [3_600_001, 0.5]]),
        ("latency", [[0, 1.1], [100, 0.5]]),
        ("latency", [[at, 0] for at in range(33)]),
        ("juice", [[0, 0], [1, 1]]),
        ("juice", [[0, 0.5], [1, 0.4]]),
        ("juice", [[0, 0], [1.1, 1]]),
    ],
)
def test_points_are_refused_in_the_browser_if_they_are_by_the_server(
    blank: Page, kind: str, points: list[list[float]]
) -> None:
    threshold = {"threshold_ms": 500} if kind == "latency" else {"threshold": 0.95}
    try:
        parse({kind: {**threshold, "utility": {"shape": "points", "points": points}}})
        refused = False
    except Invalid as fault:
        refused = fault.field == f"{kind}.utility.points"
    said = run(blank, "slo/utility", "return m.pointsFault(...given)", [kind, points])
    assert bool(said) == refused


def test_points_begin_where_the_knee_is(blank: Page) -> None:
    for kind, threshold in (("latency", 300), ("juice", 0.9)):
        points = run(blank, "slo/utility", "return m.firstPoints(...given)", [kind, threshold])
        body = "return m.pointsFault(...given)"
        assert run(blank, "slo/utility", body, [kind, points]) == ""
        knee = run(
            blank, "slo/utility", "return m.curve(...given)", [kind, threshold, {"shape": "knee"}]
        )
        worth = dict(map(tuple, knee))
        assert all(worth[at] == pytest.approx(part) for at, part in points if at in worth)


def test_a_step_is_drawn_upright(blank: Page) -> None:
    body = "return m.curve(...given, 10)"
    falling = run(blank, "slo/utility", body, ["latency", 500, {"shape": "step"}])
    assert [500, 1] in falling
    assert falling[falling.index([500, 1]) + 1] == [500, 0]
    rising = run(blank, "slo/utility", body, ["juice", 0.95, {"shape": "step"}])
    assert rising[rising.index([0.95, 1]) - 1] == [0.95, 0]


@pytest.mark.parametrize(
    ("objective", "expected"),
    [
        (None, "none"),
        (
            {
                "latency": {"of": "committed", "statistic": "p99", "threshold_ms": 500},
                "juice": None,
            },
            "p99 committed ≤ 500 ms · priority 35",
        ),
        (
            {
                "latency": {"of": "processed", "statistic": "p999", "threshold_ms": 1500},
                "juice": {"threshold": 0.95},
            },
            "p99.9 processed ≤ 1.5 s · juice ≥ 0.95 · priority 35",
        ),
        (
            {"latency": {"of": "processed", "statistic": "mean", "threshold_ms": 1234.5}},
            "mean processed ≤ 1234.5 ms · priority 35",
        ),
        ({"juice": {"threshold": 1}}, "juice ≥ 1 · priority 35"),
    ],
)
def test_an_objective_is_said_in_one_line_and_as_it_was_typed(
    blank: Page, objective: Any, expected: str
) -> None:
    given = objective and {"priority": 35, **objective}
    said = run(blank, "slo/objective", "return m.objectiveWords(given)", given)
    assert said.replace("\u00a0", " ") == expected


@pytest.mark.parametrize(
    ("rate", "expected"),
    [(None, "–"), (0, "0×"), (0.004, "<0.01×"), (0.42, "0.42×"), (14.4, "14×"), (100, "100×")],
)
def test_a_burn_rate_is_a_multiple(blank: Page, rate: float | None, expected: str) -> None:
    assert run(blank, "slo/standing", "return m.burnWords(given)", rate) == expected
