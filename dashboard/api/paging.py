"""Pages by cursor: a cursor is where the last page ended, so rows that come and go in between
neither repeat nor hide others, as they do with page numbers."""

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar

from django.db.models import Model, QuerySet
from ninja import Query

from dashboard.api.problems import BadInput

T = TypeVar("T")
Row = TypeVar("Row", bound=Model)
Key = tuple[str | int | float, ...]

Limit = Annotated[int, Query(ge=1, le=500, description="at most so many items")]
Cursor = Annotated[
    str | None, Query(max_length=500, description="`next` of the page before; none for the first")
]


@dataclass(frozen=True)
class Page(Generic[T]):
    items: list[T]
    next: str | None


def newest_first(rows: QuerySet[Row], cursor: str | None, limit: int) -> Page[Row]:
    """Rows by descending primary key."""
    if cursor is not None:
        (last,) = _decode(cursor, (0,))
        rows = rows.filter(pk__lt=last)
    found = list(rows.order_by("-pk")[: limit + 1])
    return _page(found, limit, lambda row: (row.pk,))


def after(items: Sequence[T], key: Callable[[T], Key], cursor: str | None, limit: int) -> Page[T]:
    """Returns the items after the cursor; `items` ascend by `key`. Keys must be distinct and have
    the same types: put the id last, and a number in place of a missing value."""
    if cursor is not None and items:
        last = _decode(cursor, key(items[0]))
        items = [item for item in items if key(item) > last]
    return _page(items[: limit + 1], limit, key)


def _page(found: Sequence[T], limit: int, key: Callable[[T], Key]) -> Page[T]:
    items = list(found[:limit])
    return Page(items, _encode(key(items[-1])) if len(found) > limit else None)


def _encode(key: Key) -> str:
    return base64.urlsafe_b64encode(json.dumps(key).encode()).decode().rstrip("=")


def _decode(cursor: str, like: Key) -> Any:
    """Decodes the key in a cursor; it must have as many parts as `like`, of the same types."""
    try:
        key = tuple(json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))))
    except (binascii.Error, ValueError, TypeError, RecursionError):
        raise BadInput("cursor", "not one of ours") from None
    if [_kind(part) for part in key] != [_kind(part) for part in like]:
        raise BadInput("cursor", "not one of this list")
    return key


def _kind(part: object) -> str:
    if isinstance(part, int | float) and abs(part) < 2**63:
        return "number"
    return "text" if isinstance(part, str) else "other"
