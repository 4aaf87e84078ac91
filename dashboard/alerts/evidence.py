"""Converts the evidence of detectors to JSON of limited size that any database can store."""

import json
import math
from collections.abc import Mapping
from typing import Any

MOST_BYTES = 16 * 1024


def plain(evidence: Mapping[str, Any]) -> dict[str, Any]:
    found = {str(name): _plain(value) for name, value in evidence.items()}
    size_bytes = len(json.dumps(found).encode())
    if size_bytes > MOST_BYTES:
        return {"left_out": f"{size_bytes // 1024} KB; see the dashboard"}
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("\x00", "")
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    # NumPy numbers and arrays convert themselves; anything else is stored as its text.
    return _plain(value.tolist()) if hasattr(value, "tolist") else str(value)
