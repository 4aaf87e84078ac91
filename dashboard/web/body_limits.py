"""Refuses large request bodies while they arrive: Django would first write them to disk."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from dashboard.api.problems import problem

Scope = dict[str, Any]
Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


class TooLarge(Exception):
    pass


class LimitedBodies:
    """ASGI: an application whose requests have bodies of at most `most_bytes`."""

    def __init__(self, application: Application, most_bytes: int) -> None:
        self._application = application
        self._most_bytes = most_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if _announced(scope) > self._most_bytes:
            await self._refuse(send)
            return
        read_bytes = 0

        async def counted() -> Message:
            nonlocal read_bytes
            message = await receive()
            read_bytes += len(message.get("body", b""))
            if read_bytes > self._most_bytes:
                raise TooLarge
            return message

        try:
            await self._application(scope, counted, send)
        except TooLarge:
            # Django reads the body before anything else, so nothing was sent yet.
            await self._refuse(send)

    async def _refuse(self, send: Send) -> None:
        said = problem(413, f"a body may have {self._most_bytes // 1024} KB")
        headers = [(name.lower().encode(), value.encode()) for name, value in said.items()]
        # The rest of the body was not read, so the connection cannot be used again.
        headers.append((b"connection", b"close"))
        await send({"type": "http.response.start", "status": 413, "headers": headers})
        await send({"type": "http.response.body", "body": said.content})


def _announced(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0
