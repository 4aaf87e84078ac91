import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import pytest

from dashboard.cli import answers, ports


@asynccontextmanager
async def server(reply: bytes) -> AsyncIterator[int]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(reply)
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1") as listening:
        yield listening.sockets[0].getsockname()[1]


@pytest.mark.parametrize(
    ("reply", "ready"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\n", True),
        (b"HTTP/1.1 302 Found\r\n\r\n", True),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", True),
        (b"HTTP/1.1 503 Service Unavailable\r\n\r\n", False),
        (b"SSH-2.0-OpenSSH\r\n", False),
        (b"", False),
    ],
)
async def test_a_web_server_is_ready_when_it_answers_without_a_fault_of_its_own(
    reply: bytes, ready: bool
) -> None:
    async with server(reply) as port:
        assert await answers.http("127.0.0.1", port) is ready


async def test_redis_is_ready_when_it_answers_ping() -> None:
    async with server(b"+PONG\r\n") as port:
        assert await answers.redis("127.0.0.1", port)
    async with server(b"-LOADING Redis is loading\r\n") as port:
        assert not await answers.redis("127.0.0.1", port)


async def test_a_port_nobody_listens_on_is_no_answer() -> None:
    assert not await answers.http("127.0.0.1", ports.any_free())


async def test_waiting_ends_with_a_sentence() -> None:
    nobody = partial(answers.redis, "127.0.0.1", ports.any_free())
    with pytest.raises(answers.NoAnswer, match="redis-server did not answer within 0 s"):
        await answers.wait_for(nobody, "redis-server", timeout_s=0.1)
