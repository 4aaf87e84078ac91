"""Addresses and tricks that would make us a way into somebody's network: each is refused."""

from ipaddress import ip_address, ip_network

import pytest

from dashboard.alerts import guard
from dashboard.alerts.guard import Refused

# Refused where an endpoint is written down.
URLS = [
    # addresses that are not public
    "http://127.0.0.1/",
    "http://127.255.255.254/",
    "http://0.0.0.0/",
    "http://0.1.2.3/",
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://172.31.255.255/",
    "http://192.168.1.1/",
    "http://100.64.0.1/",
    "http://100.100.100.200/latest/meta-data/",
    "http://169.254.169.254/latest/meta-data/",
    "http://168.63.129.16/metadata",
    "http://192.0.0.192/opc/v2/",
    "http://192.0.2.1/",
    "http://198.18.0.1/",
    "http://224.0.0.1/",
    "http://240.0.0.1/",
    "http://255.255.255.255/",
    # the same in other words
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.0.0.1/",
    "http://0177.0.0.1/",
    "http://017700000001/",
    "http://127.1/",
    "http://127.0.1/",
    "http://127.0.0.1./",
    "http://0/",
    "http://127.0.0.01/",
    "http://1.0x7f/",
    # IPv6
    "http://[::]/",
    "http://[::1]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[::127.0.0.1]/",
    "http://[::ffff:0:127.0.0.1]/",
    "http://[fe80::1]/",
    "http://[fe80::1%25eth0]/",
    "http://[fec0::1]/",
    "http://[fc00::1]/",
    "http://[fd00:ec2::254]/latest/meta-data/",
    "http://[ff02::1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[64:ff9b:1::a9fe:a9fe]/",
    "http://[2002:7f00:1::]/",
    "http://[2001:0:7f00:1::]/",
    "http://[2001:db8::1]/",
    "http://[100::1]/",
    # digits and dots of other scripts
    "http://１２７.0.0.1/",
    "http://127。0。0。1/",
    "http://①②⑦.⓪.⓪.①/",
    "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/",
    # users, and what only looks like a host
    "http://user@example.org/",
    "http://user:password@example.org/",
    "http://example.org@127.0.0.1/",
    "http://@example.org/",
    "http://example.org\\@127.0.0.1/",
    "http://127.0.0.1\\.example.org/",
    "http://example.org%2f@127.0.0.1/",
    "http://exam%70le.org/",
    "http://a..example.org/",
    "http://-example.org/",
    "http:///etc/passwd",
    "http://",
    "//example.org/",
    "example.org",
    "",
    "http://[::1",
    "http://[v1.fe80]/",
    "http://xn--/",
    # lines within
    "http://example.org/\r\nX-Injected: yes",
    "http://example.org/\x00",
    "http://example .org/",
    "\thttp://example.org/",
    "http://example.org/#here",
    # other ways to speak
    "file:///etc/passwd",
    "ftp://example.org/",
    "gopher://127.0.0.1:6379/_FLUSHALL",
    "unix:///var/run/docker.sock",
    "javascript:alert(1)",
    "data:text/plain,hello",
    # ports of others
    "http://example.org:0/",
    "http://example.org:22/",
    "http://example.org:25/",
    "http://example.org:6379/",
    "http://example.org:11211/",
    "http://example.org:65536/",
    "http://example.org:-1/",
    "http://example.org:http/",
    # too long
    "http://example.org/" + "x" * 2_000,
]


@pytest.mark.parametrize("url", URLS)
def test_an_address_or_trick_is_refused(url: str) -> None:
    with pytest.raises(Refused):
        guard.checked_url(url)


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("https://hooks.example.org/T0/B0/x?y=1", "https://hooks.example.org/T0/B0/x?y=1"),
        ("HTTPS://Hooks.Example.ORG", "https://hooks.example.org"),
        ("http://example.org:8080/a@b", "http://example.org:8080/a@b"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("http://8.8.8.8/", "http://8.8.8.8/"),
        ("http://[2606:4700::1]/", "http://[2606:4700::1]/"),
        ("http://curtail_alerts:8080/", "http://curtail_alerts:8080/"),
        ("http://3com.example/", "http://3com.example/"),
    ],
)
def test_an_ordinary_address_is_taken_in_the_form_it_is_sent_to(url: str, kept: str) -> None:
    assert str(guard.checked_url(url)) == kept


# What names resolve to, in the moment of connecting.
ANSWERS = [
    ["127.0.0.1"],
    ["10.1.2.3"],
    ["169.254.169.254"],
    ["::1"],
    ["::ffff:10.0.0.1"],
    ["fe80::1%eth0"],
    ["fd12:3456::1"],
    ["64:ff9b::a00:1"],
    ["93.184.216.34", "192.168.0.1"],
    ["2606:4700::1", "::1"],
    [],
    ["not an address"],
]


@pytest.mark.parametrize("found", ANSWERS)
def test_a_name_that_leads_inside_is_refused(found: list[str]) -> None:
    with pytest.raises(Refused):
        guard.checked(found)


def test_a_refusal_does_not_tell_what_the_name_resolves_to() -> None:
    with pytest.raises(Refused) as refused:
        guard.checked(["10.1.2.3"])
    assert "10.1" not in str(refused.value)


def test_a_network_that_is_allowed_is_open_and_no_other() -> None:
    allowed = (ip_network("10.1.0.0/16"), ip_network("fd00:1::/32"))
    assert guard.checked(["10.1.2.3"], allowed) == ["10.1.2.3"]
    assert guard.refusal(ip_address("::ffff:10.1.2.3"), allowed) is None
    assert guard.refusal(ip_address("fd00:1::2"), allowed) is None
    assert guard.refusal(ip_address("10.2.0.1"), allowed) == "private"
    assert guard.refusal(ip_address("169.254.169.254"), allowed)
    assert str(guard.checked_url("http://10.1.2.3:8080/", allowed)) == "http://10.1.2.3:8080/"


@pytest.mark.parametrize("network", [*guard.NOT_PUBLIC_V4, *guard.NOT_PUBLIC_V6])
def test_a_range_is_refused_from_its_first_to_its_last_address(network: str) -> None:
    whole = ip_network(network)
    assert guard.refusal(whole[0])
    assert guard.refusal(whole[-1])


@pytest.mark.parametrize(
    "address",
    ["1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
     "128.0.0.0", "169.253.255.255", "172.15.255.255", "172.32.0.0", "223.255.255.255",
     "2606:4700::1", "2a00:1450:4001::1"],
)  # fmt: skip
def test_what_is_beside_a_range_is_public(address: str) -> None:
    assert guard.refusal(ip_address(address)) is None
