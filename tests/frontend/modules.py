"""Runs JavaScript against one of the frontend's modules, without any page around it."""

from pathlib import Path
from typing import Any

from playwright.sync_api import Page

FAKES = Path(__file__).with_name("fakes.js")


def run(blank: Page, module: str, body: str, given: Any = None) -> Any:
    """What `body` returns; in it, `m` is the module and `given` the argument."""
    if not blank.evaluate("typeof FakeClock !== 'undefined'"):
        blank.add_script_tag(path=FAKES)
    load = f"const m = await import('/static/curtail/js/{module}.js');"
    return blank.evaluate(f"async (given) => {{ {load} {body} }}", given)
