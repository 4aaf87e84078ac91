"""Sends one POST to a checked address, with a deadline for the whole attempt."""

import asyncio
import functools
import socket
import ssl
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import certifi
import httpx

from dashboard.alerts import guard
from dashboard.alerts.guard import Network, Refused

DEADLINE_S = 10.0
READ_AT_MOST_BYTES = 64 * 1024
KEEP_BYTES = 2 * 1024
RESOLVERS = 8
USER_AGENT = "Curtail-Webhooks/1"

Resolve = Callable[[str, int], Sequence[str]]


@dataclass(frozen=True)
class Answer:
    """The result of an attempt: an HTTP status, or the reason why there is none."""

    status: int | None
    error: str
    body: str
    retry_after: str | None
    duration_ms: int

    @property
    def delivered(self) -> bool:
        return self.status is not None and 200 <= self.status < 300

    @property
    def gone(self) -> bool:
        return self.status == 410


def resolved(host: str, port: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


@dataclass(frozen=True)
class Sender:
    allowed: Sequence[Network] = ()
    deadline_s: float = DEADLINE_S
    resolve: Resolve = resolved

    def post(self, url: str, headers: dict[str, str], body: bytes) -> Answer:
        return asyncio.run(self._post_in_time(url, headers, body))

    async def _post_in_time(self, url: str, headers: dict[str, str], body: bytes) -> Answer:
        started = time.monotonic()

        def answer(status: int | None = None, error: str = "", **more: str | None) -> Answer:
            took_ms = round((time.monotonic() - started) * 1000)
            said = more.get("body") or ""
            return Answer(status, error, said, more.get("retry_after"), took_ms)

        try:
            # For the whole attempt: with a timeout per read, a receiver that answers byte by byte
            # could hold the thread for ever.
            async with asyncio.timeout(self.deadline_s):
                response, said = await self._post(url, headers, body)
        except Refused as error:
            return answer(error=f"refused: {error}")
        except TimeoutError:
            return answer(error=f"no whole answer within {self.deadline_s:g} s")
        except httpx.HTTPError as error:
            return answer(error=_said(error))
        except OSError as error:
            return answer(error=error.strerror or type(error).__name__)
        shown = said[:KEEP_BYTES].decode(errors="replace").replace("\x00", "�")
        return answer(
            response.status_code,
            "a redirect, which is not followed" if response.is_redirect else "",
            body=shown,
            retry_after=response.headers.get("retry-after"),
        )

    async def _post(
        self, text: str, headers: dict[str, str], body: bytes
    ) -> tuple[httpx.Response, bytes]:
        url = guard.checked_url(text, self.allowed)
        transport = Pinned(self.allowed, self.resolve)
        # No trust_env: a proxy from the environment would resolve the name itself, unchecked.
        client = httpx.AsyncClient(
            transport=transport, trust_env=False, follow_redirects=False, timeout=self.deadline_s
        )
        sent = {
            "content-type": "application/json",
            "user-agent": USER_AGENT,
            # An uncompressed answer cannot expand in memory while it is read.
            "accept-encoding": "identity",
            **headers,
        }
        async with client, client.stream("POST", url, content=body, headers=sent) as response:
            return response, await _beginning(response)


class Pinned(httpx.AsyncBaseTransport):
    """Resolves once, checks all addresses, connects to one; the name is kept for TLS and Host."""

    def __init__(self, allowed: Sequence[Network], resolve: Resolve) -> None:
        self._allowed = allowed
        self._resolve = resolve
        self._inner = httpx.AsyncHTTPTransport(verify=_authorities(), trust_env=False)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        host = url.raw_host.decode("ascii")
        port = url.port or {"http": 80, "https": 443}[url.scheme]
        loop = asyncio.get_running_loop()
        found = await loop.run_in_executor(_resolvers(), self._resolve, host, port)
        failure: httpx.HTTPError | None = None
        for address in guard.checked(found, self._allowed):
            try:
                return await self._inner.handle_async_request(self._to(request, address, host))
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                failure = error  # nothing was sent yet, so the next address can be tried
        assert failure is not None
        raise failure

    async def aclose(self) -> None:
        await self._inner.aclose()

    @staticmethod
    def _to(request: httpx.Request, address: str, name: str) -> httpx.Request:
        return httpx.Request(
            request.method,
            request.url.copy_with(host=address),
            headers=request.headers,  # with the Host of the name
            stream=request.stream,
            extensions={**request.extensions, "sni_hostname": name},
        )


async def _beginning(response: httpx.Response) -> bytes:
    read = b""
    async for chunk in response.aiter_raw():
        read += chunk
        if len(read) >= READ_AT_MOST_BYTES:
            break
    return read[:READ_AT_MOST_BYTES]


def _said(error: httpx.HTTPError) -> str:
    """Returns the error without IP addresses, so that internal DNS answers are not shown."""
    words: dict[type[httpx.HTTPError], str] = {
        httpx.ConnectError: "could not connect",
        httpx.ConnectTimeout: "could not connect in time",
        httpx.ReadTimeout: "no answer in time",
        httpx.ReadError: "the connection broke",
        httpx.WriteError: "the connection broke",
        httpx.RemoteProtocolError: "the answer is not HTTP",
    }
    told = words.get(type(error), type(error).__name__)
    return f"{told}: certificate not valid" if "CERTIFICATE_VERIFY" in str(error) else told


@functools.cache
def _authorities() -> ssl.SSLContext:
    """CA certificates of the system (with a company's own) and of certifi. Slow to load."""
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context


@functools.cache
def _resolvers() -> ThreadPoolExecutor:
    """A separate pool: asyncio waits at its end for its own pool, also for a hung resolver."""
    return ThreadPoolExecutor(RESOLVERS, thread_name_prefix="resolve")
