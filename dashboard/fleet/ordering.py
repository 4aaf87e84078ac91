"""Filters and orders the list of jobs. Pure.

A sort key ends with the id, so no two are equal and the list can be read page by page. In the
order "worst first" a job may move between two requests: the next page has it at its new place.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from dashboard.fleet.jobs import ENDED, FAILED, STALE

Item = Mapping[str, Any]
Key = tuple[str | int | float, ...]


def worst(item: Item) -> Key:
    """Order: open incidents, factor by which the SLO is missed, silent jobs, then p99.

    Jobs that ended come last, those that failed first among them.
    """
    return (
        item["state"] in (ENDED, FAILED),
        -item["open_incidents"],
        -missed_by(item),
        item["state"] not in (STALE, FAILED),
        -(item["p99_ms"] or 0.0),
        item["id"],
    )


def name(item: Item) -> Key:
    # The id consists of application and query, in lower case.
    return (item["id"],)


ORDERS: Mapping[str, Callable[[Item], Key]] = {"worst": worst, "name": name}


def missed_by(item: Item) -> float:
    """How many times the SLO is missed; 0 if it is met or there is none."""
    ratio: float = (item["slo"] and item["slo"]["ratio"]) or 0.0
    return ratio if ratio > 1 else 0.0


def matching(
    items: Iterable[Item], *, search: str = "", state: str = "", tag: str = ""
) -> list[Item]:
    words = search.lower().split()
    return [
        item
        for item in items
        if (not state or item["state"] == state)
        and (not tag or tag.lower() in item["tags"])
        and _has(item, words)
    ]


def _has(item: Item, words: list[str]) -> bool:
    if not words:
        return True
    run: Mapping[str, str] = item["run"] or {}
    named = (item["id"], item["application"], item["query"], item["state"], *item["tags"])
    text = " ".join((*named, run.get("driver_host", ""), run.get("spark_version", ""))).lower()
    return all(word in text for word in words)
