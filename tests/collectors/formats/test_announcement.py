import pytest

from collectors.formats.announcement import from_hash, to_hash
from collectors.formats.codec import Garbled
from tests.factories import ANNOUNCEMENT, PULSE, announcement


def as_redis_gives_it(**changes: str | bytes) -> dict[bytes, bytes]:
    values = {**to_hash(ANNOUNCEMENT), **changes}
    return {
        key.encode(): value if isinstance(value, bytes) else str(value).encode()
        for key, value in values.items()
    }


def test_an_announcement_comes_back_from_its_hash() -> None:
    assert from_hash(as_redis_gives_it()) == ANNOUNCEMENT


def test_the_pulse_comes_back_with_it() -> None:
    said = to_hash(announcement(pulse=PULSE))["pulse"]
    assert isinstance(said, bytes)
    assert from_hash(as_redis_gives_it(pulse=said)).pulse == PULSE


@pytest.mark.parametrize("said", [b"", b"garbage", b"\xcb\x63later"])
def test_a_pulse_that_cannot_be_read_does_not_hide_the_job(said: bytes) -> None:
    assert from_hash(as_redis_gives_it(pulse=said)) == ANNOUNCEMENT


def test_what_an_earlier_curtail_did_not_say_has_its_default() -> None:
    values = as_redis_gives_it()
    del values[b"end_reason"]
    assert from_hash(values) == ANNOUNCEMENT


def test_a_field_of_a_later_curtail_is_passed_over() -> None:
    assert from_hash(as_redis_gives_it(colour="blue")) == ANNOUNCEMENT


@pytest.mark.parametrize(
    "values",
    [
        {},
        {b"job_id": b"x"},
        as_redis_gives_it(started_ms="soon"),
        as_redis_gives_it(started_ms="²"),
    ],
    ids=str,
)
def test_a_hash_that_is_none_is_garbled(values: dict[bytes, bytes]) -> None:
    with pytest.raises(Garbled):
        from_hash(values)
