"""A receiver of webhooks as other people run them: a process of its own, well or badly behaved.

It verifies each request with the `standardwebhooks` library against the secrets in the file
`secrets` of its folder, and appends what it saw to `seen`, one JSON object per line. How it
answers is asked for by the path.
"""

import json
import os
import sys
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from standardwebhooks import Webhook, WebhookVerificationError

FOLDER = Path(sys.argv[1])


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        url = urlsplit(self.path)
        self.query = {name: values[0] for name, values in parse_qs(url.query).items()}
        earlier = note(self, body)
        with suppress(BrokenPipeError, ConnectionResetError):
            getattr(self, f"answer_{url.path.strip('/')}")(earlier)

    def do_GET(self) -> None:
        note(self, b"")
        self.reply(200)

    def answer_ok(self, earlier: int) -> None:
        self.reply(200, body=b"thank you")

    def answer_fail(self, earlier: int) -> None:
        self.reply(int(self.query.get("status", 500)), body=b"stack trace of the receiver")

    def answer_fail_first(self, earlier: int) -> None:
        self.reply(200 if earlier >= int(self.query["times"]) else 500)

    def answer_later(self, earlier: int) -> None:
        self.reply(429, {"Retry-After": self.query["after"]})

    def answer_gone(self, earlier: int) -> None:
        self.reply(410)

    def answer_redirect(self, earlier: int) -> None:
        self.reply(int(self.query.get("status", 302)), {"Location": self.query["to"]})

    def answer_slow(self, earlier: int) -> None:
        time.sleep(float(self.query["s"]))
        self.reply(200)

    def answer_slow_first(self, earlier: int) -> None:
        """The first request waits until `released` is there, however often it is retried."""
        while earlier == 0 and not (FOLDER / "released").exists():
            time.sleep(0.02)
        self.reply(200)

    def answer_drip(self, earlier: int) -> None:
        """A byte of a header every 50 ms: each read is in time, the answer never is."""
        self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Drip: ")
        while True:
            self.wfile.write(b".")
            time.sleep(0.05)

    def answer_flood(self, earlier: int) -> None:
        self.wfile.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
        while True:
            self.wfile.write(b"x" * 65_536)

    def answer_garbage(self, earlier: int) -> None:
        self.wfile.write(b"SSH-2.0-OpenSSH_9.2\r\n")
        self.close_connection = True

    def answer_break(self, earlier: int) -> None:
        self.close_connection = True

    def reply(self, status: int, headers: dict[str, str] | None = None, body: bytes = b"") -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def note(request: BaseHTTPRequestHandler, body: bytes) -> int:
    """How often this message was seen before."""
    headers = {name.lower(): value for name, value in request.headers.items()}
    with (FOLDER / "seen").open("a+") as file:
        file.seek(0)
        ids = [json.loads(line)["headers"].get("webhook-id") for line in file]
        seen = {
            "method": request.command,
            "path": request.path,
            "headers": headers,
            "body": body.decode(),
            "verified_by": [s for s in secrets() if verified(s, headers, body)],
            "at_ms": time.time_ns() // 1_000_000,
        }
        file.write(json.dumps(seen) + "\n")
    return ids.count(headers.get("webhook-id"))


def secrets() -> list[str]:
    kept = FOLDER / "secrets"
    return kept.read_text().split() if kept.exists() else []


def verified(secret: str, headers: dict[str, str], body: bytes) -> bool:
    try:
        Webhook(secret).verify(body, headers)
    except WebhookVerificationError:
        return False
    return True


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    (FOLDER / "port.new").write_text(str(server.server_address[1]))
    (FOLDER / "port.new").rename(FOLDER / "port")
    # A test run that is killed takes its receiver along.
    parent = os.getppid()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    while os.getppid() == parent:
        time.sleep(0.5)
