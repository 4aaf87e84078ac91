from typing import Any

import pytest
from playwright.sync_api import Page

from tests.frontend.modules import run

pytestmark = pytest.mark.browser


def lines(blank: Page, before: Any, after: Any) -> list[str]:
    body = """
    return m.changes(given[0], given[1]).map(({field, from, to}) => {
      const text = (value) => value === null ? "" : m.shown(field, value, "utc");
      return `${m.fieldName(field)}: ${text(from)} > ${text(to)}`;
    });
    """
    found: list[str] = run(blank, "people/change", body, [before, after])
    return [line.replace("\u00a0", " ") for line in found]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"role": "viewer"}, {"role": "admin"}, ["role: viewer > admin"]),
        (
            {"role": "viewer", "active": True},
            {"role": "viewer", "active": False},
            ["active: yes > no"],
        ),
        (None, {"mode": "act"}, ["mode:  > act"]),
        ({"mode": "act"}, None, ["mode: act > "]),
        ({"p99_ms": 200}, {"p99_ms": 1500}, ["p99: 200 ms > 1.50 s"]),
        (None, {"expires_ms": 1_800_000_000_000}, ["expires:  > 15 Jan 2027"]),
        ({"options": {"a": 1, "b": 2}}, {"options": {"a": 1, "b": 3}}, ["options.b: 2 > 3"]),
        ({"tags": []}, {"tags": ["x", "y"]}, ["tags: none > x, y"]),
        ({"tags": ["x"]}, {"tags": ["x"]}, []),
        (None, None, []),
        ("off", "on", [": off > on"]),
    ],
)
def test_what_changed_is_a_line_per_field(
    blank: Page, before: Any, after: Any, expected: list[str]
) -> None:
    assert lines(blank, before, after) == expected
