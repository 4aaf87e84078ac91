"""How fast the job page is: run `python -m tests.frontend.pace` on a quiet machine.

The load of the page's promise: five minutes of 50 ms windows in view, batches five times a second.
"""

import json
import os
import sys
import time
from typing import Any

from playwright.sync_api import CDPSession, sync_playwright

from tests.frontend.conftest import ARGUMENTS, CHROMIUM

BATCH_S = 0.2
PAINTED = """
() => {
  const chart = document.querySelector("[data-chart]");
  window.painted = [];
  new MutationObserver(() => {
    const lastMs = Number(chart.dataset.drawnWindowMs);
    // After the next frame has been painted.
    requestAnimationFrame(() => setTimeout(() => {
      if (painted.at(-1)?.[0] !== lastMs) painted.push([lastMs, Date.now()]);
    }));
  }).observe(chart, { attributes: true, attributeFilter: ["data-drawn"] });
}
"""


def metrics(session: CDPSession) -> dict[str, float]:
    found = session.send("Performance.getMetrics")["metrics"]
    return {each["name"]: each["value"] for each in found}


def measure(seconds: float, query: str = "") -> dict[str, Any]:
    # Templates need Django's settings, which must be there before they are imported.
    from tests.frontend.live import Live
    from tests.frontend.standin import static_server

    with static_server() as base, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
        live = Live(base, page, lambda path, query: None)
        session = page.context.new_cdp_session(page)
        # CPU, not wall time: what else runs on the machine is not the page.
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        began = time.monotonic()
        live.start(query)
        page.wait_for_selector("[data-chart]:not([data-drawn='0'])", state="attached")
        first_s = time.monotonic() - began
        page.evaluate(PAINTED)

        def flow(lasting_s: float) -> None:
            end = time.monotonic() + lasting_s
            while time.monotonic() < end:
                live.flow()
                page.wait_for_timeout(BATCH_S * 1000)

        flow(5)
        session.send("HeapProfiler.collectGarbage")
        before, drawn = metrics(session), live.drawn()
        page.evaluate("painted.length = 0")
        at = time.monotonic()
        flow(seconds)
        took = time.monotonic() - at
        after, redraws = metrics(session), live.drawn() - drawn
        painted = page.evaluate("painted")
        session.send("HeapProfiler.collectGarbage")
        heap = metrics(session)["JSHeapUsedSize"] - before["JSHeapUsedSize"]
        draw_ms = page.locator("[data-chart]").get_attribute("data-draw-ms")
        browser.close()
    # The stand-in sends a window BEHIND_MS after its start, at the earliest; what the page adds
    # is from there to the screen.
    lags = sorted(shown - (window + 50) for window, shown in painted)
    return {
        "first_chart_s": round(first_s, 2),
        "updates_per_s": round(redraws / took, 2),
        "main_thread_busy": round((after["TaskDuration"] - before["TaskDuration"]) / took, 3),
        "script": round((after["ScriptDuration"] - before["ScriptDuration"]) / took, 3),
        "layout_style": round(
            sum(after[k] - before[k] for k in ("LayoutDuration", "RecalcStyleDuration")) / took, 3
        ),
        "cpu_ms_per_update": round(
            (after["TaskDuration"] - before["TaskDuration"]) * 1000 / max(1, redraws), 1
        ),
        "last_draw_ms": draw_ms,
        "window_end_to_paint_ms": {
            "p50": lags[len(lags) // 2],
            "p99": lags[int(len(lags) * 0.99)],
        }
        if lags
        else None,
        "heap_growth_mb": round(heap / 1e6, 2),
        "errors": live.errors,
    }


if __name__ == "__main__":
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
    django.setup()
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 20
    print(json.dumps(measure(seconds, *sys.argv[2:3]), indent=1))
