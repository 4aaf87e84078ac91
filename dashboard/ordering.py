"""Jobs as a list: who matches, in which order, and one page of them at a time. Pure.

A cursor is the place of the last job shown, not a count of jobs: those that come or go meanwhile
neither hide a job nor show one twice. A job whose own place changes between two pages, as it may
when the worst come first, is seen where it then is.
"""

import base64
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

Item = Mapping[str, Any]
Key = tuple[Any, ...]

OVER = ("ended", "failed")


class BadCursor(ValueError):
    """Not one of ours, or one of another order."""


def worst(item: Item) -> Key:
    """Open incidents, then by how much the SLO is missed, then silence, then the longest tail."""
    p99_ms = item["p99_ms"] or 0.0
    return (
        item["state"] in OVER,
        -item["open_incidents"],
        -missed_by(item),
        item["state"] != "stale",
        -p99_ms,
        *name(item),
    )


def name(item: Item) -> Key:
    return (item["application"], item["query"], item["id"])


ORDERS: Mapping[str, Callable[[Item], Key]] = {"worst": worst, "name": name}


def missed_by(item: Item) -> float:
    """p99 as a multiple of what was promised; 0 where the promise holds or there is none."""
    if not item["slo"] or item["p99_ms"] is None:
        return 0.0
    ratio: float = item["p99_ms"] / item["slo"]["p99_ms"]
    return ratio if ratio > 1 else 0.0


def matching(
    items: Iterable[Item], *, search: str = "", state: str = "", tag: str = ""
) -> list[Item]:
    words = search.lower().split()
    return [
        item
        for item in items
        if (not state or item["state"] == state)
        and (not tag or tag in item["tags"])
        and all(word in _text(item) for word in words)
    ]


def page(
    items: Iterable[Item], order: str, limit: int, cursor: str = ""
) -> tuple[list[Item], str | None]:
    """The items after the cursor, `limit` at most, and the cursor of the next page if any."""
    key = ORDERS[order]
    placed = sorted(((key(item), item) for item in items), key=lambda each: each[0])
    if cursor:
        after = _read(cursor, order)
        try:
            placed = [each for each in placed if each[0] > after]
        except TypeError:
            raise BadCursor from None
    shown = placed[:limit]
    further = _write(shown[-1][0], order) if len(placed) > limit else None
    return [item for _, item in shown], further


def _text(item: Item) -> str:
    run: Mapping[str, Any] = item["run"] or {}
    about: Sequence[str] = (item["id"], item["application"], item["query"], item["state"])
    about = (*about, run.get("driver_host", ""), run.get("spark_version", ""), *item["tags"])
    return " ".join(about).lower()


def _write(key: Key, order: str) -> str:
    return base64.urlsafe_b64encode(json.dumps([order, *key]).encode()).decode().rstrip("=")


def _read(cursor: str, order: str) -> Key:
    try:
        whose, *key = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, TypeError):
        raise BadCursor from None
    if whose != order:
        raise BadCursor
    return tuple(key)
