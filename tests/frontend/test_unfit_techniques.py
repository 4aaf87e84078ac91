from typing import Any

import pytest
from playwright.sync_api import Page

from tests.frontend.modules import run

pytestmark = pytest.mark.browser


def together(blank: Page, *items: tuple[str, str, bool | None, str]) -> list[str]:
    cards: list[Any] = [
        {"name": name, "mode": mode, "conditions": {"hold": hold, "why": why}}
        for name, mode, hold, why in items
    ]
    body = "return m.unfitTogether(given).map(({name}) => name);"
    found: list[str] = run(blank, "technique/techniques", body, cards)
    return found


def test_techniques_that_do_not_fit_for_one_reason_are_told_together(blank: Page) -> None:
    found = together(
        blank,
        ("a", "off", False, "no pool"),
        ("b", "off", False, "no state"),
        ("c", "off", False, "no pool"),
        ("d", "off", True, "no pool"),
        ("e", "off", None, "no pool"),
    )
    assert found == ["a", "c"]


def test_one_that_is_switched_on_keeps_its_place(blank: Page) -> None:
    found = together(
        blank,
        ("a", "act", False, "no pool"),
        ("b", "advise", False, "no pool"),
        ("c", "off", False, "no pool"),
    )
    assert found == []
