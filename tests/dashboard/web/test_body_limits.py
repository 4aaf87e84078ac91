"""The door as the server has it: bytes as they come, with or without a length told before."""

import json
from collections.abc import Mapping
from typing import Any

from dashboard.web.body_limits import LimitedBodies

MOST_BYTES = 1_000


class Door:
    """An application that reads all and answers 200, behind the limit."""

    def __init__(self, chunks: list[bytes], headers: dict[bytes, bytes]) -> None:
        self.chunks = chunks
        self.scope = {"type": "http", "headers": list(headers.items())}
        self.sent: list[Mapping[str, Any]] = []
        self.read = 0

    async def receive(self) -> Mapping[str, Any]:
        self.read += 1
        more = self.read < len(self.chunks)
        return {"type": "http.request", "body": self.chunks[self.read - 1], "more_body": more}

    async def send(self, message: Mapping[str, Any]) -> None:
        self.sent.append(message)

    async def open(self) -> int:
        async def application(scope: Any, receive: Any, send: Any) -> None:
            while (await receive()).get("more_body"):
                pass
            await send({"type": "http.response.start", "status": 200, "headers": []})

        await LimitedBodies(application, MOST_BYTES)(self.scope, self.receive, self.send)
        status: int = self.sent[0]["status"]
        return status


async def test_a_body_of_the_most_passes() -> None:
    assert await Door([b"x" * 500, b"x" * 500], {}).open() == 200


async def test_one_that_says_it_is_too_large_is_not_read_at_all() -> None:
    door = Door([b"x"], {b"content-length": b"1001"})
    assert await door.open() == 413
    assert door.read == 0
    assert json.loads(door.sent[1]["body"])["status"] == 413


async def test_one_that_does_not_say_so_is_read_no_further_than_the_most() -> None:
    door = Door([b"x" * 400] * 100, {})
    assert await door.open() == 413
    assert door.read == 3


async def test_a_length_that_is_no_number_is_left_to_the_server() -> None:
    assert await Door([b"x"], {b"content-length": b"-1"}).open() == 200
