"""The control document: what operators and controllers ask of one job. JSON in Redis.

    {"version": 7, "renewed_ms": 1700000000000,
     "techniques": {"shadowsync": {"mode": "act", "version": 7, "lease_ms": 15000,
                                   "settings": {"threshold_spread": 3}}}}

`version` rises with every change; a technique's own is the document's at its last change. A
technique that is not named is off. The writer renews `renewed_ms` every second or so: a document
that is not renewed for a technique's lease no longer holds. It carries data only, never code.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from collectors.formats.codec import Garbled

MAX_BYTES = 16 * 1024
MAX_TECHNIQUES = 32
MAX_SETTINGS = 64

Scalar = bool | int | float | str


@dataclass(frozen=True)
class Wanted:
    mode: str
    version: int
    lease_ms: int
    settings: Mapping[str, Scalar] = field(default_factory=dict)


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
    if len(settings) > MAX_SETTINGS:
        raise ValueError(f"{len(settings)} settings")
    if value["mode"] not in ("advise", "act"):
        raise ValueError(f"a mode {value['mode']!r}")
    return Wanted(
        mode=value["mode"],
        version=_count(value["version"]),
        lease_ms=_count(value["lease_ms"]),
        settings={_text(name): _scalar(each) for name, each in settings.items()},
    )


def _scalar(value: Any) -> Scalar:
    if isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"a setting that is a {type(value).__name__}")


def _text(value: Any) -> str:
    if isinstance(value, str) and 0 < len(value) <= 100:
        return value
    raise TypeError(f"a name {value!r}")


def _count(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53:
        return value
    raise TypeError(f"a number {value!r}")
