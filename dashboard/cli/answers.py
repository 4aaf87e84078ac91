"""Whether a server that was just started answers yet."""

import asyncio
from collections.abc import Awaitable, Callable

TRY_TIMEOUT_S = 2.0


class NoAnswer(Exception):
    """The server did not answer in time."""


async def http(host: str, port: int, path: str = "/login") -> bool:
    request = f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n"
    status = await _first_line(host, port, request.encode())
    # Anything but a server error will do: a host name that is not allowed gives 400, and says
    # as much about readiness as 200.
    return status.startswith(b"HTTP/1.1 ") and status[9:10] in b"234"


async def redis(host: str, port: int) -> bool:
    return await _first_line(host, port, b"PING\r\n") == b"+PONG\r\n"


async def wait_for(
    answers: Callable[[], Awaitable[bool]], what: str, timeout_s: float, every_s: float = 0.05
) -> None:
    try:
        async with asyncio.timeout(timeout_s):
            while not await answers():  # noqa: ASYNC110
                await asyncio.sleep(every_s)
    except TimeoutError:
        raise NoAnswer(f"{what} did not answer within {timeout_s:.0f} s") from None


async def _first_line(host: str, port: int, request: bytes) -> bytes:
    writer = None
    try:
        async with asyncio.timeout(TRY_TIMEOUT_S):
            reader, writer = await asyncio.open_connection(host, port)
            writer.write(request)
            return await reader.readline()
    except (OSError, ValueError, TimeoutError):
        return b""
    finally:
        if writer is not None:
            writer.close()


def local(host: str) -> str:
    """The address to reach a server that listens on `host`: loopback if it listens on all."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
