"""Which TCP port a server may take."""

import random
import socket

# Below the range of ephemeral ports: the system gives none of these to another program between
# our choice and the start of the server.
ASIDE = range(20_000, 32_768)
TRIES = 100


def is_free(port: int, host: str = "127.0.0.1") -> bool:
    # With SO_REUSEADDR, like the servers themselves: connections of a server that has just
    # stopped linger for a minute (TIME_WAIT) and must not make its port look taken.
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
            probe.listen(1)
        except OSError:
            return False
    return True


def any_free(host: str = "127.0.0.1") -> int:
    aside = (random.choice(ASIDE) for _ in range(TRIES))
    return next((port for port in aside if is_free(port, host)), 0) or _given(host)


def _given(host: str) -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((host, 0))
        port: int = probe.getsockname()[1]
    return port


def prefer(port: int, host: str = "127.0.0.1") -> int:
    """Returns `port` if it is free, else another free port."""
    return port if is_free(port, host) else any_free(host)
