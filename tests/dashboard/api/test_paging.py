import base64
import json

import pytest

from dashboard.accounts import audit
from dashboard.api.paging import Page, after, newest_first
from dashboard.api.problems import BadInput
from dashboard.models import AuditEntry

LETTERS = [(0.0, "a"), (0.0, "b"), (1.5, "c"), (2.0, "d"), (2.0, "e")]


def pages_of(letters: list[tuple[float, str]], limit: int) -> list[str]:
    found, cursor = [], None
    while True:
        page: Page[tuple[float, str]] = after(letters, lambda letter: letter, cursor, limit)
        found.append("".join(name for _, name in page.items))
        cursor = page.next
        if cursor is None:
            return found


@pytest.mark.parametrize(
    ("limit", "pages"), [(2, ["ab", "cd", "e"]), (5, ["abcde"]), (1, ["a", "b", "c", "d", "e"])]
)
def test_pages_follow_each_other_without_gap_or_repeat(limit: int, pages: list[str]) -> None:
    assert pages_of(LETTERS, limit) == pages


def test_an_item_that_vanishes_takes_no_other_with_it() -> None:
    first = after(LETTERS, lambda letter: letter, None, 2)
    rest = after(LETTERS[2:], lambda letter: letter, first.next, 2)
    assert rest.items == LETTERS[2:4]


def test_a_list_that_became_empty_has_an_empty_page() -> None:
    first = after(LETTERS, lambda letter: letter, None, 2)
    assert after([], lambda letter: letter, first.next, 2) == Page([], None)


@pytest.mark.django_db
def test_rows_come_newest_first() -> None:
    for number in range(5):
        audit.record("nadia", "slo.changed", str(number))
    first = newest_first(AuditEntry.objects.all(), None, 3)
    audit.record("nadia", "slo.changed", "5")
    second = newest_first(AuditEntry.objects.all(), first.next, 3)
    assert [entry.subject for entry in first.items] == ["4", "3", "2"]
    assert [entry.subject for entry in second.items] == ["1", "0"]
    assert second.next is None


@pytest.mark.parametrize(
    "cursor",
    [
        "!",
        "a",
        "",
        "é",
        *(
            base64.urlsafe_b64encode(json.dumps(key).encode()).decode()
            for key in ([], [1], ["x", 1], [1, 2], None, 7, [1, "a", 2], [float("nan"), "a"])
        ),
    ],
)
def test_a_cursor_that_is_not_ours_is_bad_input(cursor: str) -> None:
    with pytest.raises(BadInput, match="cursor"):
        after(LETTERS, lambda letter: letter, cursor, 2)
