"""The control document: what operators and controllers ask of one job. JSON in Redis.

    {"version": 7, "renewed_ms": 1700000000000,
     "techniques": {"shadowsync": {"mode": "act", "version": 7, "lease_ms": 15000,
                                   "settings": {"thresholds": true, "spread": 3}}}}

`version` rises with every change; a technique's own is the document's at its last change. A
technique that is not named is off. The writer renews `renewed_ms` every second or so: a document
that is not renewed for a technique's lease no longer holds. It carries data only, never code:
numbers, words, and lists and maps of them, bounded in number and depth. Which settings are valid is
defined by each technique (`techniques.schema`); here only their size is bounded.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import isfinite
from typing import Any, TypeAlias

from collectors.formats.codec import Garbled

MAX_BYTES = 64 * 1024
MAX_TECHNIQUES = 32
# Most values in all settings of a technique together, and how deep lists and maps may be nested.
MAX_VALUES = 4_096
MAX_DEPTH = 4
# With a longer lease, orders would stay in force too long after their writer went away.
MAX_LEASE_MS = 120_000

Scalar = bool | int | float | str
Value: TypeAlias = Scalar | Sequence["Value"] | Mapping[str, "Value"]


@dataclass(frozen=True)
class Wanted:
    mode: str
    version: int
    lease_ms: int
    settings: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class Control:
    version: int = 0
    renewed_ms: int = 0
    techniques: Mapping[str, Wanted] = field(default_factory=dict)


def encode(control: Control) -> bytes:
    return json.dumps(asdict(control), separators=(",", ":")).encode()


def decode(data: bytes) -> Control:
    """Raises `Garbled` for anything but a control document within its bounds."""
    if len(data) > MAX_BYTES:
        raise Garbled(f"a control document of {len(data)} bytes")
    try:
        document = json.loads(data)
        techniques = {
            _text(name): _wanted(each) for name, each in dict(document["techniques"]).items()
        }
        control = Control(_count(document["version"]), _count(document["renewed_ms"]), techniques)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise Garbled(f"not a control document: {error}") from error
    if len(techniques) > MAX_TECHNIQUES:
        raise Garbled(f"a control document of {len(techniques)} techniques")
    return control


def _wanted(value: Any) -> Wanted:
    settings = dict(value["settings"])
    if (many := sum(_values(each, MAX_DEPTH) for each in settings.values())) > MAX_VALUES:
        raise ValueError(f"{many} settings")
    if value["mode"] not in ("advise", "act"):
        raise ValueError(f"a mode {value['mode']!r}")
    return Wanted(
        mode=value["mode"],
        version=_count(value["version"]),
        lease_ms=min(MAX_LEASE_MS, _count(value["lease_ms"])),
        settings={_text(name): each for name, each in settings.items()},
    )


def _values(value: Any, depth: int) -> int:
    """Returns how many numbers and words a setting holds; an empty list or map counts as one."""
    if isinstance(value, bool | str) or (isinstance(value, int | float) and isfinite(value)):
        return 1
    if not isinstance(value, list | dict):
        raise TypeError(f"a setting that is {value!r}"[:100])
    if depth == 0:
        raise ValueError(f"settings more than {MAX_DEPTH} deep")
    inside = value.values() if isinstance(value, dict) else value
    for name in value if isinstance(value, dict) else ():
        _text(name)
    return max(1, sum(_values(each, depth - 1) for each in inside))


def _text(value: Any) -> str:
    if isinstance(value, str) and 0 < len(value) <= 100:
        return value
    raise TypeError(f"a name {value!r}")


def _count(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53:
        return value
    raise TypeError(f"a number {value!r}")
