"""Decides to which addresses alerts may be sent, against server-side request forgery (SSRF).

A host name is checked twice: its form when an endpoint is saved, and the addresses it resolves to
when we connect. We connect only to one of the addresses that were checked and do not resolve the
name again, so a name server that changes its answer (DNS rebinding) gains nothing.
"""

import ipaddress
import re
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

import httpx

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

LONGEST_URL = 2_000
WEB_PORTS = {80, 443}
FIRST_UNPRIVILEGED_PORT = 1024
# Services that might read the lines of a request as commands: NFS, MySQL, PostgreSQL, X11, Redis,
# its Sentinel and cluster bus, IRC, Memcached, MongoDB.
OTHER_SERVICES = {2049, 3306, 5432, *range(6000, 6064), 6379, 26379, 16379, 6667, 11211, 27017}

_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
# With a last label like this, resolvers read the name as a number: 0x7f.1, 2130706433, 0177.0.0.1.
_NUMERIC = re.compile(r"[0-9]+|0x[0-9a-f]*")

# From IANA's registries of special purpose addresses, and what clouds put elsewhere.
NOT_PUBLIC_V4 = {
    "0.0.0.0/8": "this host",
    "10.0.0.0/8": "private",
    "100.64.0.0/10": "shared by a provider",
    "127.0.0.0/8": "loopback",
    "168.63.129.16/32": "a cloud's own",
    "169.254.0.0/16": "link-local, with the metadata of clouds",
    "172.16.0.0/12": "private",
    "192.0.0.0/24": "reserved",
    "192.0.2.0/24": "for documentation",
    "192.88.99.0/24": "a relay of 6to4",
    "192.168.0.0/16": "private",
    "198.18.0.0/15": "for benchmarks",
    "198.51.100.0/24": "for documentation",
    "203.0.113.0/24": "for documentation",
    "224.0.0.0/4": "multicast",
    "240.0.0.0/4": "reserved, with broadcast",
}
# All other IPv6 addresses are refused: 2000::/3 is the range allocated for public use.
PUBLIC_V6 = IPv6Network("2000::/3")
NOT_PUBLIC_V6 = {
    "2001::/23": "reserved, with Teredo",
    "2001:db8::/32": "for documentation",
    "2002::/16": "6to4",
    "3fff::/20": "for documentation",
}
_V4 = [(IPv4Network(text), why) for text, why in NOT_PUBLIC_V4.items()]
_V6 = [(IPv6Network(text), why) for text, why in NOT_PUBLIC_V6.items()]


class Refused(Exception):
    """Alerts may not be sent to this address. The message gives the reason but not the address."""


def checked_url(text: str, allowed: Sequence[Network] = ()) -> httpx.URL:
    """Returns the normalised URL or raises `Refused`. Does not resolve the host name."""
    if len(text) > LONGEST_URL:
        raise Refused(f"an address may have {LONGEST_URL} characters")
    if "\\" in text or any(not each.isprintable() or each.isspace() for each in text):
        raise Refused("an address holds neither backslashes nor spaces")
    try:
        url = httpx.URL(text)
        host = url.raw_host.decode("ascii")
    except (httpx.InvalidURL, ValueError) as error:
        raise Refused(f"not an address: {error}") from None
    if url.scheme not in ("http", "https"):
        raise Refused("only http:// and https:// can be sent to")
    if url.userinfo or "@" in text.partition("//")[2].partition("/")[0]:
        raise Refused("an address holds no user name or password")
    if url.fragment:
        raise Refused("an address holds no #fragment")
    _check_port(url.port)
    literal = _literal(host)
    if literal is None:
        _check_name(host)
    elif why := refusal(literal, allowed):
        raise Refused(f"an address that is {why}")
    return url


def refusal(address: Address, allowed: Sequence[Network] = ()) -> str | None:
    """Why an address may not be connected to; None if it may."""
    if isinstance(address, IPv6Address):
        # For a mapped address the kernel connects to the IPv4 address inside it.
        if address.ipv4_mapped:
            return refusal(address.ipv4_mapped, allowed)
        if address.scope_id:
            return "of one link alone"
    if any(address in network for network in allowed):
        return None
    if isinstance(address, IPv4Address):
        return next((why for network, why in _V4 if address in network), None)
    if address not in PUBLIC_V6:
        return "not public"
    return next((why for network, why in _V6 if address in network), None)


def checked(found: Sequence[str], allowed: Sequence[Network] = ()) -> list[str]:
    """Returns the resolved addresses if all of them are allowed, else raises `Refused`.

    One private address among public ones refuses the name: only an attacker mixes them.
    """
    if not found:
        raise Refused("the name has no address")
    for text in found:
        try:
            address = ipaddress.ip_address(text)
        except ValueError:
            raise Refused("the name resolves to what is no address") from None
        if why := refusal(address, allowed):
            raise Refused(f"the name resolves to an address that is {why}")
    return list(found)


def _literal(host: str) -> Address | None:
    try:
        return ipaddress.ip_address(host.removesuffix("."))
    except ValueError:
        return None


def _check_name(host: str) -> None:
    labels = host.removesuffix(".").split(".")
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise Refused("the name of the host is none")
    if _NUMERIC.fullmatch(labels[-1]):
        raise Refused("write the host as a name or as four plain numbers")


def _check_port(port: int | None) -> None:
    if port is None or port in WEB_PORTS:
        return
    if not FIRST_UNPRIVILEGED_PORT <= port <= 65_535 or port in OTHER_SERVICES:
        raise Refused("the port must be 80, 443 or one from 1024 on that is not another service's")
