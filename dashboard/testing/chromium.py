"""Debian's Chromium, for tests and benchmarks."""

import shutil

from playwright.sync_api import Browser, Playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def chromium(playwright: Playwright) -> Browser:
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        raise FileNotFoundError(f"none of {', '.join(NAMES)} is installed")
    return playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
