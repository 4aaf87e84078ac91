"""What the job page costs a browser, and what browsers cost the server.

A made-up job goes through a real Redis (`benchmarks/ui_stream.py`), past five minutes first. A
real Chromium logs in and opens its page; a script that only watches notes when the chart was
first painted and, at each redraw, how old every newly painted 50 ms window was. The share of time
its main thread was busy is Chromium's own count of task time. Memory is what a garbage collection
leaves. Then 200 clients watch the same job and its technique cards as a page does: they ask for
cards once, and are sent those that change with the windows. The server's CPU and Redis' count of
reads are taken over some seconds. Last, cards are clicked on a job that really runs
(`benchmarks/ui_clicks.py`).
"""

import asyncio
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from playwright.sync_api import CDPSession, Page, sync_playwright
from redis import Redis
from websockets.asyncio.client import ClientConnection, connect

from benchmarks import ui_clicks, ui_stream
from benchmarks.freshness import log_in, wait_for_job
from collectors.formats.wire import WINDOW_MS
from dashboard.cli import programs, sessions
from dashboard.cli.child import Program
from dashboard.testing.chromium import chromium
from dashboard.testing.running import Running
from dashboard.testing.stack import Stack, stack

SUMMARY = (
    "the job page in Chromium: redraws, main thread, first chart, freshness, memory; 200 browsers; "
    "from a click on a card to applied"
)

PAST_S = 300
QUICK_S, FULL_S = 15, 600
SETTLES_S, FULL_SETTLES_S = 3, 20
BROWSERS = 200
BROWSERS_S, FULL_BROWSERS_S = 10, 30
# Clients connect one after the other, as people do, before anything is measured.
ARRIVE_S = 6.0
CLICKS, FULL_CLICKS = 20, 100
LOADS, FULL_LOADS = 1, 5
# Messages that make two seconds of windows, and the cards with them.
FIRST_MESSAGES = 20
TICKS_PER_S = os.sysconf("SC_CLK_TCK")

# Runs before the page's own scripts. `data-drawn` and `data-drawn-window-ms` are set by the page
# when it has drawn lines, axes and headings, `data-zoomable` when Plotly has taken over the axes
# and hears the mouse; two frames later it is on the screen.
WATCH = """
(() => {
  const seen = { firstMs: null, zoomableMs: null, redraws: 0, agesMs: [], lastMs: null };
  window.__seen = seen;
  const painted = (then) => requestAnimationFrame(() => requestAnimationFrame(then));
  const look = () => {
    const chart = document.querySelector("[data-chart]");
    if (!chart) return requestAnimationFrame(look);
    new MutationObserver(() => {
      const newestMs = Number(chart.dataset.drawnWindowMs);
      painted(() => {
        seen.redraws += 1;
        seen.firstMs ??= performance.now();
        if ("zoomable" in chart.dataset) seen.zoomableMs ??= performance.now();
        const now = Date.now();
        if (seen.lastMs !== null) {
          for (let at = seen.lastMs + WINDOW; at <= newestMs; at += WINDOW) {
            seen.agesMs.push(now - (at + WINDOW));
          }
        }
        seen.lastMs = newestMs;
      });
    }).observe(chart, { attributes: true, attributeFilter: ["data-drawn"] });
  };
  look();
})();
""".replace("WINDOW", str(WINDOW_MS))


def run(quick: bool) -> Mapping[str, object]:
    with stack(CURTAIL_TECHNIQUES=ui_clicks.TECHNIQUES) as running:
        with streaming(running):
            watched_job = watch(running, quick)
        say("clicks on a job in Spark")
        with Running(running.job(*ui_clicks.JOB)), browsing(running) as page:
            wait_for_job(running, log_in(running), ui_clicks.JOB_ID, timeout_s=120)
            clicked = ui_clicks.applied_ms(page, running, CLICKS if quick else FULL_CLICKS)
    return {**watched_job, **clicked, "seconds": QUICK_S if quick else FULL_S}


def watch(running: Stack, quick: bool) -> dict[str, object]:
    cookie = log_in(running)
    wait_for_job(running, cookie, ui_stream.JOB_ID)
    page = watch_page(running, quick)
    say(f"{BROWSERS} browsers")
    seconds = BROWSERS_S if quick else FULL_BROWSERS_S
    return {**page, **asyncio.run(watch_server(running, cookie, seconds))}


def table(result: Mapping[str, Any]) -> str:
    return "\n".join(f"{name:<28} {value}" for name, value in result.items())


@contextmanager
def streaming(running: Stack) -> Iterator[None]:
    words = ("--redis", running.redis.url, "--past-s", str(PAST_S))
    argv = (sys.executable, "-m", ui_stream.__name__, *words)
    env = programs.environ(os.environ, **programs.same_python())
    with Running(Program("stream", argv, env, running.data_dir / "stream.log")) as stream:
        stream.wait_until(lambda: "past sent" in stream.said())
        yield


def watch_page(running: Stack, quick: bool) -> dict[str, object]:
    with browsing(running) as page:
        loads = [load(page, running) for _ in range(LOADS if quick else FULL_LOADS)]
        say(f"first chart and zoomable after {loads} s; watching the page")
        protocol = page.context.new_cdp_session(page)
        protocol.send("Performance.enable")
        page.wait_for_timeout((SETTLES_S if quick else FULL_SETTLES_S) * 1000)
        return {
            **watched(page, protocol, QUICK_S if quick else FULL_S),
            "first_chart_s": round(float(np.median([first for first, _ in loads])), 2),
            "zoomable_s": round(float(np.median([zoomable for _, zoomable in loads])), 2),
        }


@contextmanager
def browsing(running: Stack) -> Iterator[Page]:
    """Yields a page of a browser that is logged in."""
    with ExitStack() as cleanup:
        playwright = cleanup.enter_context(sync_playwright())
        browser = chromium(playwright)
        cleanup.callback(browser.close)
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        context.add_init_script(WATCH)
        page = context.new_page()
        page.goto(f"{running.url}/login")
        page.fill("[name=username]", running.username)
        page.fill("[name=password]", running.password)
        page.click("[type=submit]")
        yield page


def load(page: Page, running: Stack) -> tuple[float, float]:
    """Seconds to the first chart and to one that can be zoomed, with an empty cache."""
    page.context.new_cdp_session(page).send("Network.clearBrowserCache")
    page.goto(f"{running.url}/jobs/{ui_stream.JOB_ID}", wait_until="commit")
    page.wait_for_function("() => window.__seen?.zoomableMs", timeout=30_000)
    first_ms, zoomable_ms = page.evaluate("[__seen.firstMs, __seen.zoomableMs]")
    return first_ms / 1000, zoomable_ms / 1000


def watched(page: Page, protocol: CDPSession, seconds: float) -> dict[str, object]:
    before, heap_before = metrics(protocol), heap_mb(protocol)
    page.evaluate("window.__seen.redraws = 0; window.__seen.agesMs.length = 0")
    began_s = time.monotonic()
    page.wait_for_timeout(seconds * 1000)
    elapsed_s = time.monotonic() - began_s
    seen: Any = page.evaluate("({ redraws: __seen.redraws, agesMs: __seen.agesMs })")
    busy_s = metrics(protocol)["TaskDuration"] - before["TaskDuration"]
    page.evaluate("window.__seen.agesMs.length = 0")
    ages_ms = seen["agesMs"]
    return {
        "updates_per_s": round(seen["redraws"] / elapsed_s, 2),
        "main_thread_busy": round(busy_s / elapsed_s, 3),
        "painted_p50_ms": round(float(np.percentile(ages_ms, 50))),
        "painted_p99_ms": round(float(np.percentile(ages_ms, 99))),
        "heap_growth_mb": round(heap_mb(protocol) - heap_before, 2),
        "points_per_series": int(page.locator("[data-chart]").get_attribute("data-points") or 0),
    }


def metrics(protocol: CDPSession) -> dict[str, float]:
    found = protocol.send("Performance.getMetrics")["metrics"]
    return {metric["name"]: metric["value"] for metric in found}


def heap_mb(protocol: CDPSession) -> float:
    protocol.send("HeapProfiler.collectGarbage")
    return float(protocol.send("Runtime.getHeapUsage")["usedSize"]) / 2**20


async def watch_server(running: Stack, cookie: str, seconds: float) -> dict[str, object]:
    url = f"ws{running.url.removeprefix('http')}/ws/jobs/{ui_stream.JOB_ID}"
    headers = {"Cookie": cookie, "Origin": running.url}
    sockets = [await connect(url, additional_headers=headers) for _ in range(BROWSERS)]
    tasks = [asyncio.create_task(received(socket)) for socket in sockets]
    try:
        await cards_opened(running, cookie)
        reads, cpu_s, began_s = redis_reads(running), server_cpu_s(running), time.monotonic()
        await asyncio.sleep(seconds)
        elapsed_s = time.monotonic() - began_s
        cores = (server_cpu_s(running) - cpu_s) / elapsed_s
        reads_per_s = (redis_reads(running) - reads) / elapsed_s
    finally:
        for task in tasks:
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(*(socket.close() for socket in sockets))
    got = [each for each in ended if not isinstance(each, asyncio.CancelledError)]
    assert not got, got
    return {
        "server_cores_200_browsers": round(cores, 3),
        "redis_reads_per_s_200_browsers": round(reads_per_s, 2),
    }


async def received(socket: ClientConnection) -> None:
    """Waits for the first messages; fails if cards are not among them."""
    seen: set[str] = set()
    for _ in range(FIRST_MESSAGES):
        seen.add(json.loads(await socket.recv())["type"])
    assert seen == {"hello", "windows", "cards"}, seen
    async for message in socket:
        assert json.loads(message)["type"] in ("windows", "cards"), message


async def cards_opened(running: Stack, cookie: str) -> None:
    async with httpx.AsyncClient(headers={"Cookie": cookie}) as client:
        for _ in range(BROWSERS):
            answer = await client.get(f"{running.url}/api/v1/jobs/{ui_stream.JOB_ID}/techniques")
            answer.raise_for_status()
            assert answer.json()["items"], answer.text
            await asyncio.sleep(ARRIVE_S / BROWSERS)


def redis_reads(running: Stack) -> int:
    """The number of XREADs that Redis has answered: a watched job needs one at a time."""
    stats: Any = Redis.from_url(running.redis.url).info("commandstats")
    return int(stats.get("cmdstat_xread", {}).get("calls", 0))


def server_cpu_s(running: Stack) -> float:
    total = 0
    for pid in sessions.members(running.server_pid):
        stat = Path("/proc", str(pid), "stat").read_text()
        total += sum(map(int, stat.rpartition(")")[2].split()[11:13]))
    return total / TICKS_PER_S


def say(words: str) -> None:
    print(f"ui: {words}", file=sys.stderr)
