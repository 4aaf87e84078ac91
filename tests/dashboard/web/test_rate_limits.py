import pytest
from django.test import RequestFactory
from pytest_django.fixtures import Settings

from dashboard.store import the_store
from dashboard.testing.stack import RedisServer
from dashboard.web import rate_limits
from dashboard.web.rate_limits import Limit, LimitReached, Use

THREE = Limit("three", most=3, window_s=60)
NOON_S = 1_700_000_040.0  # the start of a window


def counts(subject: str, times: int, at_s: float = NOON_S) -> None:
    for _ in range(times):
        rate_limits.count(Use(THREE, subject), clock=lambda: at_s)


@pytest.mark.usefixtures("memory_store")
class TestCounting:
    def test_one_too_many_is_refused_until_the_window_ends(self) -> None:
        counts("eve", 3)
        with pytest.raises(LimitReached) as refused:
            counts("eve", 1, NOON_S + 20.5)
        assert refused.value.retry_after_s == 40
        counts("eve", 1, NOON_S + 60)

    def test_only_the_first_one_too_many_is_told_as_such(self) -> None:
        counts("eve", 3)
        told = []
        for _ in range(3):
            with pytest.raises(LimitReached) as refused:
                counts("eve", 1)
            told.append(refused.value.first)
        assert told == [True, False, False]

    def test_subjects_are_counted_apart(self) -> None:
        counts("eve", 3)
        counts("nadia", 3)

    def test_what_is_given_back_does_not_count(self) -> None:
        for _ in range(10):
            counts("eve", 1)
            rate_limits.give_back(Use(THREE, "eve"), clock=lambda: NOON_S)


def test_processes_count_together(redis: RedisServer, settings: Settings) -> None:
    settings.REDIS_URL = redis.url
    try:
        for _ in range(3):
            the_store.cache_clear()  # as another process would have it
            counts("eve", 1)
        the_store.cache_clear()
        with pytest.raises(LimitReached):
            counts("eve", 1)
    finally:
        the_store.cache_clear()


def test_without_redis_it_counts_alone_and_refuses_all_the_same(
    redis: RedisServer, settings: Settings
) -> None:
    settings.REDIS_URL = redis.url
    the_store.cache_clear()
    redis.stop()
    try:
        counts("somebody else", 3)
        with pytest.raises(LimitReached):
            counts("somebody else", 1)
    finally:
        the_store.cache_clear()


@pytest.mark.parametrize(
    ("told", "counted"),
    [
        ("203.0.113.9", "203.0.113.9"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("::ffff:203.0.113.9", "203.0.113.9"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
        ("unix socket", "unix socket"),
    ],
)
def test_an_ipv6_network_counts_as_one_address(told: str, counted: str) -> None:
    assert rate_limits.address_of(RequestFactory().get("/", REMOTE_ADDR=told)) == counted
