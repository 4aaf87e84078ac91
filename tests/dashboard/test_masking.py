import pytest

from dashboard.masking import masked


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("redis://127.0.0.1:6379/0", "redis://127.0.0.1:6379/0"),
        ("redis://:hunter2@cache:6379/0", "redis://:***@cache:6379/0"),
        ("postgres://me:p@ss:w/rd@db/curtail", "postgres://me:***@db/curtail"),
        (
            "unix:///run/redis.sock?password=hunter2&db=1",
            "unix:///run/redis.sock?password=***&db=1",
        ),
        ("postgres://me@db/curtail", "postgres://me@db/curtail"),
        ("see 'mysql://me:hunter2@db/x' there", "see 'mysql://me:***@db/x' there"),
    ],
)
def test_a_password_in_an_address_is_masked(text: str, shown: str) -> None:
    assert masked(text) == shown
