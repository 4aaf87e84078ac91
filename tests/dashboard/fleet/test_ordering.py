from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.api import paging
from dashboard.api.problems import BadInput
from dashboard.fleet.ordering import ORDERS, Item, matching


def item(job_id: str = "a.b", **changes: Any) -> Item:
    application, _, query = job_id.partition(".")
    made: dict[str, Any] = {
        "id": job_id,
        "application": application,
        "query": query,
        "state": "running",
        "run": None,
        "tags": [],
        "slo": None,
        "p99_ms": None,
        "open_incidents": 0,
    }
    return {**made, **changes}


def slo(ratio: float | None) -> dict[str, Any]:
    return {"version": 1, "ratio": ratio}


def page(
    items: list[Item], order: str, limit: int, cursor: str | None = None
) -> tuple[list[Item], str | None]:
    key = ORDERS[order]
    shown = paging.after(sorted(items, key=key), key, cursor, limit)
    return shown.items, shown.next


def ids(items: list[Item]) -> list[str]:
    return [each["id"] for each in items]


items = st.builds(
    item,
    job_id=st.from_regex(r"[ab]\.[a-c]{1,3}", fullmatch=True),
    state=st.sampled_from(["running", "stale", "ended", "failed"]),
    slo=st.none() | (st.none() | st.floats(min_value=0, max_value=1e6)).map(slo),
    p99_ms=st.none() | st.floats(min_value=0, max_value=1e6),
    open_incidents=st.integers(0, 3),
)
fleets = st.lists(items, unique_by=lambda each: each["id"], max_size=30)
orders = st.sampled_from(["worst", "name"])


def test_the_worst_come_first() -> None:
    fleet = [
        item("quick.query", p99_ms=5.0),
        item("ended.query", state="ended", open_incidents=5),
        item("failed.query", state="failed", open_incidents=5),
        item("slow.query", p99_ms=9_000.0),
        item("unknown.query"),
        item("silent.query", state="stale"),
        item("promise-kept.query", p99_ms=10_000.0, slo=slo(0.5)),
        item("missed.query", p99_ms=300.0, slo=slo(1.5)),
        item("missed-badly.query", p99_ms=30.0, slo=slo(10)),
        item("in-trouble.query", open_incidents=1),
        item("in-more-trouble.query", open_incidents=2),
    ]
    assert ids(page(fleet, "worst", 100)[0]) == [
        "in-more-trouble.query",
        "in-trouble.query",
        "missed-badly.query",
        "missed.query",
        "silent.query",
        "promise-kept.query",
        "slow.query",
        "quick.query",
        "unknown.query",
        "failed.query",
        "ended.query",
    ]


@given(fleets)
def test_what_is_over_is_never_above_what_is_not(fleet: list[Item]) -> None:
    over = [each["state"] in ("ended", "failed") for each in page(fleet, "worst", 100)[0]]
    assert over == sorted(over)


@given(fleets, st.randoms(), orders)
def test_the_order_does_not_depend_on_how_jobs_were_listed(
    fleet: list[Item], random: Any, order: str
) -> None:
    shuffled = random.sample(fleet, len(fleet))
    assert page(fleet, order, 100) == page(shuffled, order, 100)


@given(fleets, st.integers(1, 7), orders)
def test_paging_loses_and_doubles_no_job(fleet: list[Item], limit: int, order: str) -> None:
    seen: list[str] = []
    cursor: str | None = None
    while True:
        shown, cursor = page(fleet, order, limit, cursor)
        assert 0 < len(shown) <= limit or not fleet
        seen += ids(shown)
        if cursor is None:
            break
    assert seen == ids(page(fleet, order, len(fleet) + 1)[0])


@given(fleets, fleets, st.integers(1, 5), orders)
def test_jobs_that_come_and_go_between_pages_do_not_hide_or_double_the_others(
    fleet: list[Item], others: list[Item], limit: int, order: str
) -> None:
    mine = set(ids(fleet))
    others = [each for each in others if each["id"] not in mine]
    seen: list[str] = []
    cursor: str | None = None
    turn = 0
    while True:
        shown, cursor = page(fleet + (others if turn % 2 else []), order, limit, cursor)
        seen += [job_id for job_id in ids(shown) if job_id in mine]
        turn += 1
        if cursor is None:
            break
    assert seen == ids(page(fleet, order, len(fleet) + 1)[0])


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({}, ["orders.raw", "orders.scored", "clicks.raw"]),
        ({"search": "ORDERS"}, ["orders.raw", "orders.scored"]),
        ({"search": "raw orders"}, ["orders.raw"]),
        ({"search": "node-a"}, ["orders.scored"]),
        ({"search": "team:pay"}, ["clicks.raw"]),
        ({"state": "stale"}, ["orders.raw"]),
        ({"tag": "team:pay"}, ["clicks.raw"]),
        ({"tag": "team"}, []),
        ({"tag": "team:pay", "state": "stale"}, []),
    ],
)
def test_jobs_are_found_by_words_state_and_tag(asked: dict[str, str], expected: list[str]) -> None:
    fleet = [
        item("orders.raw", state="stale"),
        item("orders.scored", run={"driver_host": "node-a", "spark_version": "4.3.0"}),
        item("clicks.raw", tags=["team:pay"]),
    ]
    assert ids(matching(fleet, **asked)) == expected


def test_a_cursor_of_another_order_is_refused() -> None:
    fleet = [item("a.a"), item("a.b")]
    _, cursor = page(fleet, "name", 1)
    assert cursor
    with pytest.raises(BadInput):
        page(fleet, "worst", 1, cursor)
