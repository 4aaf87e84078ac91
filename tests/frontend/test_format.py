from typing import Any

import pytest
from playwright.sync_api import Page

from tests.frontend.modules import run

pytestmark = pytest.mark.browser

SPACE = "\u00a0"


@pytest.mark.parametrize(
    ("kind", "number", "text"),
    [
        ("duration", 0, "0 ms"),
        ("duration", 0.1234, "0.123 ms"),
        ("duration", 7.25, "7.25 ms"),
        ("duration", 183.4, "183 ms"),
        ("duration", 999.4, "999 ms"),
        ("duration", 999.6, "1.00 s"),
        ("duration", 2034, "2.03 s"),
        ("duration", 59_960, "60.0 s"),
        ("duration", 1_200_000, "20.0 min"),
        ("duration", 0.0000001, "<0.001 ms"),
        ("duration", None, "–"),
        ("count", 12, "12"),
        ("count", 12.34, "12.3"),
        ("count", 999.9, "1.00 k"),
        ("count", 12_345, "12.3 k"),
        ("count", 4_000_000, "4.00 M"),
        ("bytes", 512, "512 B"),
        ("bytes", 1536, "1.50 KiB"),
        ("bytes", 6.5 * 2**30, "6.50 GiB"),
        ("percent", 100, "100 %"),
        ("percent", 7.251, "7.25 %"),
    ],
)
def test_three_significant_digits_and_a_unit(
    blank: Page, kind: str, number: Any, text: str
) -> None:
    shown = run(blank, "core/format", "return m.text(m[given[0]](given[1]));", [kind, number])
    assert shown.replace(SPACE, " ") == text


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (-300, "0 s"),
        (12_900, "12 s"),
        (59_999, "59 s"),
        (180_000, "3 min"),
        (7_500_000, "2 h 5 min"),
        (400_000_000, "4 d"),
    ],
)
def test_an_age_is_rough(blank: Page, ms: int, text: str) -> None:
    assert run(blank, "core/format", "return m.age(given);", ms) == text


def test_times_are_local_or_utc_and_say_which(blank: Page) -> None:
    """The browser of these tests stands in Berlin."""
    shown = run(
        blank,
        "core/times",
        """return ["local", "utc"].map((zone) =>
          [m.windowTime(given, zone), m.dayTime(given, zone), m.zoneName(given, zone)]);""",
        1_781_000_000_050,
    )
    assert shown == [
        ["12:13:20.050", "9 Jun, 12:13:20", "CEST"],
        ["10:13:20.050", "9 Jun, 10:13:20", "UTC"],
    ]


@pytest.mark.parametrize(("low", "high"), [(150, 2050), (0.4, 3), (1, 1), (90, 900_000)])
@pytest.mark.parametrize("scale", ["log", "linear"])
def test_a_latency_axis_holds_its_values_between_round_marks(
    blank: Page, low: float, high: float, scale: str
) -> None:
    axis = run(blank, "chart/axes", "return m.latencyAxis(...given);", [low, high, scale])
    bottom, top = (10**end if scale == "log" else end for end in axis["range"])
    assert bottom <= low
    assert top >= high
    assert 2 <= len(axis["values"]) <= 12
    assert all(" " in label or label == "0" for label in axis["labels"])


def test_an_axis_without_data_still_has_marks(blank: Page) -> None:
    counts = run(
        blank,
        "chart/axes",
        """return ["log", "linear"].map((scale) =>
          m.latencyAxis(Infinity, -Infinity, scale).values.length);""",
    )
    assert all(count > 2 for count in counts)
