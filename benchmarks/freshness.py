"""How old a 50 ms window is when a browser gets it: from the window's end to the WebSocket.

One real Spark job, one Redis, one server, one WebSocket client, all on this machine, so that one
clock measures both ends.
"""

import asyncio
import json
import sys
import time
import urllib.request
from collections.abc import Mapping
from http.cookiejar import CookieJar
from urllib.parse import urlencode

import numpy as np
from websockets.asyncio.client import connect

from collectors.formats.wire import WINDOW_MS
from dashboard.testing.running import Running
from dashboard.testing.stack import Stack, stack

SUMMARY = "from the end of a 50 ms window to its arrival in a WebSocket client"

JOB_ID = "word-count.words"
QUICK_S, FULL_S = 12, 60
WARM_UP_S = 8


def run(quick: bool) -> Mapping[str, object]:
    seconds = QUICK_S if quick else FULL_S
    with stack() as running, Running(running.job("word_count")):
        cookie = log_in(running)
        print("freshness: waiting for the job to appear", file=sys.stderr)
        wait_for_job(running, cookie, JOB_ID)
        print(f"freshness: warming up, then measuring for {seconds} s", file=sys.stderr)
        ages_ms = asyncio.run(watch(running, cookie, seconds))
    return {
        "p50_ms": round(float(np.percentile(ages_ms, 50)), 1),
        "p90_ms": round(float(np.percentile(ages_ms, 90)), 1),
        "p99_ms": round(float(np.percentile(ages_ms, 99)), 1),
        "max_ms": round(float(np.max(ages_ms)), 1),
        "windows": len(ages_ms),
    }


def table(result: Mapping[str, object]) -> str:
    return "\n".join(f"{name:<8} {value}" for name, value in result.items())


async def watch(running: Stack, cookie: str, seconds: float) -> list[float]:
    """The age of every window that arrives, once the job is past its start."""
    ages_ms: list[float] = []
    url = f"ws{running.url.removeprefix('http')}/ws/jobs/{JOB_ID}"
    # The server checks the origin, as it does for browsers.
    headers = {"Cookie": cookie, "Origin": running.url}
    async with connect(url, additional_headers=headers) as socket:
        began_s = time.monotonic()
        while (elapsed_s := time.monotonic() - began_s) < WARM_UP_S + seconds:
            message = json.loads(await asyncio.wait_for(socket.recv(), timeout=30))
            now_ms = time.time() * 1000
            if message["type"] == "windows" and elapsed_s >= WARM_UP_S:
                ages_ms += [now_ms - (start_ms + WINDOW_MS) for start_ms in message["t"]]
    return ages_ms


def wait_for_job(running: Stack, cookie: str, job_id: str, timeout_s: float = 60) -> None:
    request = urllib.request.Request(f"{running.url}/api/v1/jobs", headers={"Cookie": cookie})
    deadline_s = time.monotonic() + timeout_s
    while True:
        with urllib.request.urlopen(request, timeout=10) as response:
            states = {job["id"]: job["state"] for job in json.load(response)["items"]}
        if states.get(job_id) == "running":
            return
        if time.monotonic() > deadline_s:
            raise TimeoutError(f"{job_id} did not appear; there are {states}")
        time.sleep(0.1)


def log_in(running: Stack) -> str:
    """Logs in through the form, as a person would; returns the session's cookie."""
    cookies = CookieJar()
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(cookies))
    login = f"{running.url}/login"
    opener.open(login, timeout=10).read()
    token = next(cookie.value for cookie in cookies if cookie.name == "csrftoken")
    form = {
        "csrfmiddlewaretoken": token,
        "username": running.username,
        "password": running.password,
    }
    opener.open(login, urlencode(form).encode(), timeout=10).read()
    session = next(cookie for cookie in cookies if cookie.name == "sessionid")
    return f"{session.name}={session.value}"
