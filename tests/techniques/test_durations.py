import pytest

from techniques.durations import said


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0, "0 ms"),
        (0.2449, "0.245 ms"),
        (61.5, "61.5 ms"),
        (999.4, "999 ms"),
        (999.6, "1 s"),
        (5_000, "5 s"),
        (12_340, "12.3 s"),
        (999_600, "1000 s"),
        (5_000_000, "5000 s"),
    ],
)
def test_a_duration_has_three_digits_and_a_unit_and_no_exponent(ms: float, text: str) -> None:
    assert said(ms) == text
