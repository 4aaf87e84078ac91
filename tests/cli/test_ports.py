import socket
from pathlib import Path

import pytest

from dashboard.cli import ports


def listening(host: str = "127.0.0.1") -> socket.socket:
    taken = socket.socket()
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    taken.bind((host, 0))
    taken.listen(1)
    return taken


def test_a_port_somebody_listens_on_is_not_free() -> None:
    with listening() as taken:
        assert not ports.is_free(taken.getsockname()[1])


def test_a_port_somebody_listens_on_at_every_address_is_not_free() -> None:
    with listening("0.0.0.0") as taken:
        assert not ports.is_free(taken.getsockname()[1])


def test_the_port_of_a_server_that_has_just_stopped_is_free() -> None:
    with listening() as server:
        port = server.getsockname()[1]
        client = socket.create_connection(("127.0.0.1", port))
        accepted, _ = server.accept()
        accepted.close()  # the server's side closes first, so its port lingers in TIME_WAIT
        client.close()
    assert ports.is_free(port)


def test_the_preferred_port_is_taken_where_it_is_free() -> None:
    port = ports.any_free()
    assert ports.prefer(port) == port


def test_any_free_port_is_one_that_nobody_is_given_before_its_server_starts() -> None:
    low = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    found = {ports.any_free() for _ in range(20)}
    assert len(found) > 10
    assert all(ports.is_free(port) for port in found)
    assert max(found) < max(low, ports.ASIDE.stop)


def test_where_those_are_taken_it_is_one_that_the_system_gives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with listening() as taken:
        monkeypatch.setattr(ports, "ASIDE", [taken.getsockname()[1]])
        port = ports.any_free()
        assert port != taken.getsockname()[1]
        assert ports.is_free(port)


def test_another_port_is_taken_where_it_is_not() -> None:
    with listening() as taken:
        port = ports.prefer(taken.getsockname()[1])
        assert port != taken.getsockname()[1]
        assert ports.is_free(port)
