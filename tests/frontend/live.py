"""A job page whose job runs, for tests and for measuring."""

import json
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, parse_qsl

from playwright.sync_api import Locator, Page, WebSocketRoute, expect

from dashboard.web.initial_range import initial_range
from tests.frontend import synthetic
from tests.frontend.static_server import Answer, StandIn, render
from tests.waiting import until

JOB = SimpleNamespace(id="traffic-jam.ranking", application="traffic-jam", query="ranking")
# How long after its end a window is on the wire.
BEHIND_MS = 500


def now_ms() -> int:
    return int(time.time() * 1000)


class Live(StandIn):
    """A job page whose job runs: history over REST, then batches whenever `flow` is called."""

    seq = 0
    sent_ms = 0
    source = "record"
    job_state = "running"
    warming_up = False
    losses: dict[str, float] = {}  # noqa: RUF012 - replaced, never changed
    ended_ms: int | None = None
    # Enough to be seen: all of what is in view takes longer to make, send and draw than most tests.
    history_ms = 90_000
    role = "operator"
    # None: a server that does not have these yet.
    incidents: list[Any] | None = None
    cards: list[Any] | None = None
    distributions: Callable[[int, str], Any] | None = None
    # What the newest window says of techniques.
    asked: dict[str, Any] | None = None

    def start(self, query: str = "") -> None:
        self.api = self.answer
        self.on_socket = self.greet
        asked = dict(parse_qsl(query.removeprefix("?")))
        at = initial_range(asked, self.edge_ms(), now_ms())
        context = {"job": JOB, "role": self.role, "opening": at}
        self.open(f"/jobs/{JOB.id}{query}", render("job.html", context))

    def answer(self, path: str, query: dict[str, str]) -> Any:
        if path == f"/jobs/{JOB.id}":
            told = {"last_seen_ms": self.edge_ms(), "warming_up": self.warming_up}
            return synthetic.job(self.job_state, **told)
        if path == f"/jobs/{JOB.id}/activities":
            start_ms = self.since_ms(query)
            return {"items": synthetic.activities(start_ms, int(query["end_ms"]))}
        if path != f"/jobs/{JOB.id}/windows":
            return self.more(path.removeprefix(f"/jobs/{JOB.id}/"), query)
        assert int(query["end_ms"]) - int(query["start_ms"]) <= 15 * 60 * 1000
        end_ms = min(int(query["end_ms"]), self.edge_ms())
        self.sent_ms = max(self.sent_ms, end_ms)
        return self.windows(self.since_ms(query), end_ms)

    def since_ms(self, query: dict[str, str]) -> int:
        return max(int(query["start_ms"]), self.edge_ms() - self.history_ms)

    def more(self, name: str, query: dict[str, str]) -> Any:
        if name == "incidents" and self.incidents is not None:
            return {"items": self.incidents}
        if name == "techniques" and self.cards is not None:
            return {"items": self.cards, "version": 1}
        if name == "distribution" and self.distributions:
            return self.distributions(int(query["start_ms"]), query["which"])
        return Answer(404, {"title": "Not found", "status": 404})

    def windows(self, start_ms: int, end_ms: int) -> Any:
        return synthetic.windows(start_ms, end_ms, source=self.source, **self.losses)

    def edge_ms(self) -> int:
        return self.ended_ms or now_ms() - BEHIND_MS

    def greet(self, socket: WebSocketRoute) -> None:
        self.seq = 0
        socket.send(json.dumps({"type": "hello", "seq": 0, "now_ms": now_ms()}))

    def flow(self, *, skip: int = 0) -> None:
        """Sends what has come since the last call; `skip` batches are lost before it."""
        end_ms = self.edge_ms()
        self.seq += 1 + skip
        batch = {**self.windows(self.sent_ms, end_ms), "asked": self.asked}
        self.send({"type": "windows", "seq": self.seq, **batch})
        self.sent_ms = end_ms

    def fetches(self) -> int:
        return len(self.fetched())

    def fetched(self) -> list[tuple[int, int]]:
        """The ranges of windows that were asked for over REST."""
        queries = [request.partition("/windows?")[2] for request in self.requests]
        asked = [parse_qs(query) for query in queries if query]
        return [(int(each["start_ms"][0]), int(each["end_ms"][0])) for each in asked]

    def last_window_ms(self) -> int:
        return int(chart(self.page).get_attribute("data-last-window-ms") or 0)

    def drawn(self) -> int:
        return int(chart(self.page).get_attribute("data-drawn") or 0)


def chart(page: Page) -> Locator:
    return page.locator("[data-chart]")


def wait_for_chart(page: Page) -> None:
    # Plotly's 4.8 MB take their time on a machine that is busy with other tests.
    expect(page.locator("[data-chart][data-zoomable]")).to_be_attached(timeout=90_000)


def wait_for_all(live: Live) -> None:
    """The chart, and every fetch that a page begins with: what is in view, what came until the
    connection stood, and what is older."""
    wait_for_chart(live.page)
    live.until(lambda: live.fetches() == 3)


def flow_until(live: Live, reached: Callable[[], bool]) -> None:
    """A batch as soon as 250 ms of windows have come, until something has happened."""
    for _ in range(60):
        if reached():
            return
        until(lambda: live.edge_ms() - live.sent_ms >= 250)
        live.flow()
        last_ms = (live.sent_ms - 1) // synthetic.WINDOW_MS * synthetic.WINDOW_MS
        # Or later: a page that was held up for long fetches what it missed by itself.
        live.until(lambda last_ms=last_ms: live.last_window_ms() >= last_ms)  # type: ignore[misc]
    raise AssertionError("not reached in 60 batches")


def until_live(live: Live) -> None:
    """Windows must come for a page to be live: on a busy machine the first ones may be old."""
    flow_until(live, lambda: chart(live.page).get_attribute("data-state") == "live")


def flow_for(live: Live, seconds: float) -> None:
    """Long enough for a page that would redraw to have done so."""
    end_s = time.monotonic() + seconds
    flow_until(live, lambda: time.monotonic() > end_s)


def flow_until_still(live: Live, seconds: float = 1) -> None:
    """Until for so long nothing was drawn, though batches came: a redraw may have begun before."""
    drawn, since_s = live.drawn(), time.monotonic()

    def still() -> bool:
        nonlocal drawn, since_s
        if live.drawn() != drawn:
            drawn, since_s = live.drawn(), time.monotonic()
        return time.monotonic() - since_s >= seconds

    flow_until(live, still)
