import pytest

from collectors.announcement import from_hash, to_hash
from collectors.codec import Garbled
from tests.made import ANNOUNCEMENT


def as_redis_gives_it(**changes: str) -> dict[bytes, bytes]:
    values = {**to_hash(ANNOUNCEMENT), **changes}
    return {key.encode(): str(value).encode() for key, value in values.items()}


def test_an_announcement_comes_back_from_its_hash() -> None:
    assert from_hash(as_redis_gives_it()) == ANNOUNCEMENT


def test_a_field_of_a_later_curtail_is_passed_over() -> None:
    assert from_hash(as_redis_gives_it(colour="blue")) == ANNOUNCEMENT


@pytest.mark.parametrize(
    "values", [{}, {b"job_id": b"x"}, as_redis_gives_it(started_ms="soon")], ids=str
)
def test_a_hash_that_is_none_is_garbled(values: dict[bytes, bytes]) -> None:
    with pytest.raises(Garbled):
        from_hash(values)
