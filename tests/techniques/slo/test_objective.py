import json
from contextlib import suppress
from dataclasses import replace
from math import inf, nan
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from techniques.slo.objective import (
    Invalid,
    JuiceTarget,
    LatencyTarget,
    Objective,
    Of,
    Point,
    Shape,
    Statistic,
    Utility,
    as_data,
    meets,
    parse,
)

FAST = Objective(LatencyTarget(100))
KEEPING_UP = Objective(juice=JuiceTarget(0.8))
STEEP = Utility(Shape.POINTS, ((100, 1), (200, 0.5), (1_000, 0)))


@pytest.mark.parametrize(
    ("utility", "latency_ms", "share"),
    [
        (Utility(), 50, 1),
        (Utility(), 100, 1),
        (Utility(), 400, 0.25),
        (Utility(), 0, 1),
        (Utility(), inf, 0),
        (Utility(Shape.LINEAR), 100, 1),
        (Utility(Shape.LINEAR), 150, 0.5),
        (Utility(Shape.LINEAR), 300, 0),
        (Utility(Shape.STEP), 100, 1),
        (Utility(Shape.STEP), 100.1, 0),
        (STEEP, 1, 1),
        (STEEP, 150, 0.75),
        (STEEP, 600, 0.25),
        (STEEP, 5_000, 0),
    ],
)
def test_latency_above_the_threshold_is_worth_a_share(
    utility: Utility, latency_ms: float, share: float
) -> None:
    objective = Objective(LatencyTarget(100, utility=utility), priority=20)

    assert objective.utility(latency_ms, None) == pytest.approx(20 * share)


@pytest.mark.parametrize(
    ("utility", "juice", "share"),
    [
        (Utility(), 0.8, 1),
        (Utility(), 1, 1),
        (Utility(), 0.2, 0.25),
        (Utility(), 0, 0),
        (Utility(Shape.LINEAR), 0.4, 0.5),
        (Utility(Shape.STEP), 0.79, 0),
        (Utility(Shape.POINTS, ((0, 0), (0.5, 0.2), (1, 1))), 0.75, 0.6),
    ],
)
def test_juice_below_the_threshold_is_worth_a_share(
    utility: Utility, juice: float, share: float
) -> None:
    objective = Objective(juice=JuiceTarget(0.8, utility), priority=10)

    assert objective.utility(None, juice) == pytest.approx(10 * share)


def test_a_hybrid_is_worth_the_mean_of_both() -> None:
    hybrid = Objective(LatencyTarget(70), JuiceTarget(1), 35)

    assert hybrid.utility(140, 1) == pytest.approx(35 * (0.5 + 1) / 2)


@pytest.mark.parametrize("unknown", [None, nan])
def test_what_is_not_measured_is_worth_nothing_that_can_be_said(unknown: float | None) -> None:
    hybrid = Objective(LatencyTarget(70), JuiceTarget(1))

    assert FAST.utility(unknown, 1) is None
    assert KEEPING_UP.utility(50, unknown) is None
    assert hybrid.utility(50, unknown) is None
    assert hybrid.utility(unknown, 1) is None


def test_a_job_meets_its_slo_when_it_meets_every_threshold_of_it() -> None:
    hybrid = Objective(LatencyTarget(70), JuiceTarget(0.9))

    assert meets(hybrid, 70, 0.9) is True
    assert meets(hybrid, 70.1, 1) is False
    assert meets(hybrid, 10, 0.8) is False
    assert meets(hybrid, 10, None) is None
    assert meets(hybrid, nan, 0.8) is False, "one that is missed decides"
    assert meets(FAST, 10, None) is True, "juice is no part of it"


def test_what_json_does_not_say_has_defaults() -> None:
    assert parse({"latency": {"threshold_ms": 500}}) == Objective(
        LatencyTarget(500, Statistic.P99, Of.COMMITTED, Utility(Shape.KNEE)), None, 35
    )


def test_the_data_of_an_objective_has_this_shape() -> None:
    points = Utility(Shape.POINTS, ((0, 0), (0.5, 0.2), (1, 1)))
    objective = Objective(LatencyTarget(500), JuiceTarget(0.95, points))

    assert as_data(objective) == {
        "latency": {
            "of": "committed",
            "statistic": "p99",
            "threshold_ms": 500,
            "utility": {"shape": "knee"},
        },
        "juice": {
            "threshold": 0.95,
            "utility": {"shape": "points", "points": [[0, 0], [0.5, 0.2], [1, 1]]},
        },
        "priority": 35,
    }
    assert as_data(replace(objective, juice=None))["juice"] is None


def latency(**fields: object) -> dict[str, object]:
    return {"latency": {"threshold_ms": 100} | fields}


def points(*pairs: object) -> dict[str, object]:
    return {"shape": "points", "points": list(pairs)}


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({}, "latency"),
        ({"latency": None, "juice": None}, "latency"),
        ({"latency": 500}, "latency"),
        ({"latency": {}}, "latency.threshold_ms"),
        (latency(threshold_ms=0), "latency.threshold_ms"),
        (latency(threshold_ms=-5), "latency.threshold_ms"),
        (latency(threshold_ms=3_600_001), "latency.threshold_ms"),
        (latency(threshold_ms=nan), "latency.threshold_ms"),
        (latency(threshold_ms=inf), "latency.threshold_ms"),
        (latency(threshold_ms=10**400), "latency.threshold_ms"),
        (latency(threshold_ms=True), "latency.threshold_ms"),
        (latency(threshold_ms="100"), "latency.threshold_ms"),
        (latency(statistic="p42"), "latency.statistic"),
        (latency(statistic=["p99"]), "latency.statistic"),
        (latency(of="sent"), "latency.of"),
        (latency(colour="red"), "latency.colour"),
        (latency(utility="knee"), "latency.utility"),
        (latency(utility={"shape": "log"}), "latency.utility.shape"),
        (latency(utility={"shape": "knee", "steps": 3}), "latency.utility.steps"),
        (latency(utility={"shape": "knee", "points": [[0, 1], [1, 0]]}), "latency.utility.points"),
        (latency(utility={"shape": "points"}), "latency.utility.points"),
        (latency(utility=points([0, 1])), "latency.utility.points"),
        (latency(utility=points(*([at, 1] for at in range(33)))), "latency.utility.points"),
        (latency(utility=points([0, 0.5], [100, 0.6])), "latency.utility.points"),
        (latency(utility=points([0, 1], [0, 0.5])), "latency.utility.points"),
        (latency(utility=points([5, 1], [0, 0.5])), "latency.utility.points"),
        (latency(utility=points([0, 1.1], [100, 0])), "latency.utility.points"),
        (latency(utility=points([0, 1], [100, -0.1])), "latency.utility.points"),
        (latency(utility=points([-1, 1], [100, 0])), "latency.utility.points"),
        (latency(utility=points([0, 1], [1e9, 0])), "latency.utility.points"),
        (latency(utility=points([0, 1], [inf, 0])), "latency.utility.points[1]"),
        (latency(utility=points([0, 1], [1, nan])), "latency.utility.points[1]"),
        (latency(utility=points([0, 1], [1, True])), "latency.utility.points[1]"),
        (latency(utility=points([0, 1], "ab")), "latency.utility.points[1]"),
        (latency(utility=points([0, 1], [1, 0, 0])), "latency.utility.points[1]"),
        ({"juice": {"threshold": 0}}, "juice.threshold"),
        ({"juice": {"threshold": 1.01}}, "juice.threshold"),
        (
            {"juice": {"threshold": 1, "utility": points([0, 1], [1, 0.5])}},
            "juice.utility.points",
        ),
        ({"juice": {"threshold": 1, "utility": points([0, 0], [2, 1])}}, "juice.utility.points"),
        (latency() | {"priority": 0.05}, "priority"),
        (latency() | {"priority": 1_001}, "priority"),
        (latency() | {"priority": nan}, "priority"),
        (latency() | {"priority": False}, "priority"),
        (latency() | {"deadline": 1}, "deadline"),
    ],
)
def test_what_is_no_objective_is_refused_with_its_field(
    data: dict[str, object], field: str
) -> None:
    with pytest.raises(Invalid) as refused:
        parse(data)

    assert refused.value.field == field
    assert refused.value.message


def test_an_objective_that_does_not_hold_together_cannot_be_made() -> None:
    with pytest.raises(Invalid, match="needs a latency target"):
        Objective()
    with pytest.raises(Invalid, match="above 0"):
        LatencyTarget(nan)


def utilities(most: float, rising: bool) -> st.SearchStrategy[Utility]:
    def of(values: list[float], shares: list[float]) -> Utility:
        pairs: list[Point] = list(
            zip(sorted(values), sorted(shares, reverse=not rising), strict=False)
        )
        return Utility(Shape.POINTS, tuple(pairs))

    drawn = st.builds(
        of,
        st.lists(st.floats(0, most), min_size=2, max_size=32, unique=True),
        st.lists(st.floats(0, 1), min_size=2, max_size=32),
    )
    plain = st.sampled_from([Utility(s) for s in Shape if s is not Shape.POINTS])
    return plain | drawn


LATENCY_TARGETS = st.builds(
    LatencyTarget,
    st.floats(1e-3, 3.6e6),
    st.sampled_from(Statistic),
    st.sampled_from(Of),
    utilities(3.6e6, rising=False),
)
JUICE_TARGETS = st.builds(JuiceTarget, st.floats(1e-6, 1), utilities(1, rising=True))
PRIORITIES = st.floats(0.1, 1_000)
OBJECTIVES = st.builds(
    Objective, LATENCY_TARGETS, st.none() | JUICE_TARGETS, PRIORITIES
) | st.builds(Objective, st.none(), JUICE_TARGETS, PRIORITIES)


@given(OBJECTIVES)
@settings(max_examples=50, deadline=None)
def test_an_objective_survives_json(objective: Objective) -> None:
    assert parse(json.loads(json.dumps(as_data(objective)))) == objective


@given(OBJECTIVES, st.floats(0, 1e7), st.floats(0, 1e7), st.floats(0, 1), st.floats(0, 1))
@settings(max_examples=50, deadline=None)
def test_utility_is_monotonic_and_never_above_the_priority(
    objective: Objective, a_ms: float, b_ms: float, a: float, b: float
) -> None:
    better = objective.utility(min(a_ms, b_ms), max(a, b))
    worse = objective.utility(max(a_ms, b_ms), min(a, b))

    assert better is not None
    assert worse is not None
    assert 0 <= worse <= better <= objective.priority * (1 + 1e-12)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "latency",
                        "juice",
                        "priority",
                        "threshold",
                        "threshold_ms",
                        "utility",
                        "points",
                    ]
                ),
                inner,
                max_size=3,
            )
        ),
    )
)
@settings(max_examples=50, deadline=None)
def test_garbage_is_refused_or_an_objective(data: Any) -> None:
    with suppress(Invalid):
        assert isinstance(parse(data), Objective)
