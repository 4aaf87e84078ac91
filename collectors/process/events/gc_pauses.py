"""Decodes the GC pauses that an executor's JVM reports.

The body is one line of JSON (`probe/machine/GcPauses.scala`):

    {"start_us", "end_us", "action": "end of minor GC", "cause", "heap_before", "heap_after"}

Times are epoch µs but as exact as the JVM has them: whole milliseconds since it started. A pause
of 0 ms is one that was shorter.
"""

import json
from typing import Any

from collectors.formats.activity import Activity, Kind
from collectors.formats.codec import Garbled
from collectors.formats.parts import Event, EventSource


def pause(event: Event, executor_id: str) -> Activity:
    """Returns the pause in `event`; raises `Garbled` if there is none."""
    if event.source != EventSource.GC:
        raise Garbled(f"an event of source {event.source} is no GC pause")
    body = _body(event)
    start_us, end_us = _count(body, "start_us"), _count(body, "end_us")
    if end_us < start_us:
        raise Garbled(f"a GC pause that ends {start_us - end_us} µs before it starts")
    return Activity(
        kind=Kind.GC,
        start_us=start_us,
        end_us=end_us,
        executor_id=executor_id,
        name=event.context,
        reason=str(body.get("cause", "")),
        input_bytes=_count(body, "heap_before"),
        output_bytes=_count(body, "heap_after"),
    )


def _body(event: Event) -> dict[str, Any]:
    try:
        body = json.loads(event.body)
    except (ValueError, RecursionError) as error:
        raise Garbled(f"a GC pause that is not JSON: {error}") from error
    if not isinstance(body, dict):
        raise Garbled(f"a GC pause that is a {type(body).__name__}")
    return body


def _count(body: dict[str, Any], key: str) -> int:
    value = body.get(key)
    # A bool is an int to Python, so compare the type. The JVM's numbers are below 2**63.
    if type(value) is not int or not 0 <= value < 2**63:
        raise Garbled(f"a GC pause whose {key} is {value!r}")
    return value
