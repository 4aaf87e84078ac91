"""What a page needs of a server, without one: templates, static files, REST answers, WebSockets.

Pages are sent with the strict content security policy of the real server.
"""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import plotly
from django.contrib.auth.models import User
from django.template.loader import render_to_string
from django.test import RequestFactory, override_settings
from playwright.sync_api import Page, Route, WebSocketRoute

from dashboard.web.security_headers import POLICY
from tests.waiting import until

ROOT = Path(__file__).resolve().parents[2]
PLOTLY = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"

COLLECT_REFUSALS = """
addEventListener("securitypolicyviolation", (event) => {
  console.error(`refused: ${event.violatedDirective} ${event.sourceFile}`);
}, true);
"""

Json = Any


class StaticFiles(SimpleHTTPRequestHandler):
    """`/static/…` from the repository and Plotly's wheel; any other address is a blank page."""

    def translate_path(self, path: str) -> str:
        name = urlsplit(path).path
        if name == "/static/plotly/plotly.min.js":
            return str(PLOTLY)
        return super().translate_path(name.removeprefix("/static"))

    def do_GET(self) -> None:
        if self.path.startswith("/static/"):
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>blank</title>")

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: a test's output is about the test."""


@contextmanager
def static_server() -> Iterator[str]:
    handler = partial(StaticFiles, directory=str(ROOT / "frontend" / "static"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def render(
    template: str, context: dict[str, Any] | None = None, *, user: str | None = "nadia"
) -> str:
    request = RequestFactory().get("/")
    if user is not None:
        request.user = User(username=user)
    with override_settings(ROOT_URLCONF="tests.frontend.urls"):
        return render_to_string(template, context or {}, request)


@dataclass
class Answer:
    status: int
    body: Json


@dataclass
class StandIn:
    """`api` answers REST: path (without /api/v1) and query to a body, an Answer, or None for no
    connection. `changes` are the requests that want to change something: method, path, body.
    Sockets the page opens are in `sockets`, oldest first."""

    base: str
    page: Page
    api: Callable[[str, dict[str, str]], Json]
    requests: list[str] = field(default_factory=list)
    changes: list[tuple[str, str, Json]] = field(default_factory=list)
    sockets: list[WebSocketRoute] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    on_socket: Callable[[WebSocketRoute], None] = lambda socket: None

    def open(self, path: str, html: str) -> None:
        self.page.route(f"{self.base}/api/**", self._answer)
        self.page.route_web_socket(lambda url: "/ws/" in url, self._connect)
        self.page.route(
            # Whatever the query is: the page changes its own.
            lambda url: urlsplit(url).path == urlsplit(path).path,
            lambda route: route.fulfill(
                body=html,
                content_type="text/html",
                headers={"Content-Security-Policy": POLICY},
            ),
        )
        self.page.add_init_script(COLLECT_REFUSALS)
        self.page.on("console", self._listen)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.goto(f"{self.base}{path}")

    def until(self, happened: Callable[[], bool]) -> None:
        """Waits in the browser: while Python sleeps, nothing that the page asks is answered."""

        def looked() -> bool:
            self.page.wait_for_timeout(20)
            return happened()

        until(looked, every_s=0)

    def send(self, message: Json) -> None:
        self.sockets[-1].send(json.dumps(message))

    def _answer(self, route: Route) -> None:
        url = urlsplit(route.request.url)
        path = url.path.removeprefix("/api/v1")
        self.requests.append(f"{path}?{url.query}" if url.query else path)
        if route.request.method != "GET":
            self.changes.append((route.request.method, path, route.request.post_data_json))
        body = self.api(path, {name: values[0] for name, values in parse_qs(url.query).items()})
        if body is None:
            route.abort("connectionrefused")
        elif isinstance(body, Answer):
            route.fulfill(
                status=body.status, json=body.body, content_type="application/problem+json"
            )
        else:
            route.fulfill(json=body)

    def _connect(self, socket: WebSocketRoute) -> None:
        self.sockets.append(socket)
        self.on_socket(socket)

    def _listen(self, message: Any) -> None:
        # The browser's own words: a failed request is often the point of a test, and a refusal
        # by the policy is reported by COLLECT_REFUSALS.
        of_the_browser = (
            "Failed to load resource",
            "WebSocket connection",
            "Applying inline style",
        )
        if message.type == "error" and not message.text.startswith(of_the_browser):
            self.errors.append(message.text)
