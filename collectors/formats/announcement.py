"""What a job says of itself: one Redis hash per job, renewed with every heartbeat."""

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any

from collectors.formats import pulse as pulses
from collectors.formats.codec import Garbled
from collectors.formats.pulse import Pulse


@dataclass(frozen=True)
class Announcement:
    job_id: str
    application: str
    query: str
    run_id: str
    application_id: str
    spark_version: str
    driver_host: str
    started_ms: int
    heartbeat_ms: int
    ended_ms: int = 0
    end_reason: str = ""
    # None if the writer's version had no pulse, or one that this version cannot read.
    pulse: Pulse | None = None


def to_hash(announcement: Announcement) -> dict[str, str | int | bytes]:
    values = {field.name: getattr(announcement, field.name) for field in fields(Announcement)}
    if announcement.pulse is None:
        del values["pulse"]
    else:
        values["pulse"] = pulses.encode(announcement.pulse)
    return values


def from_hash(values: Mapping[bytes, bytes]) -> Announcement:
    """Fields with a default may be missing: an older version did not write them.

    An unreadable pulse becomes None: the numbers of a newer version must not hide the job itself.
    """
    said = {key.decode(errors="replace"): value for key, value in values.items()}
    found: dict[str, Any] = {}
    for field in fields(Announcement):
        if field.name == "pulse":
            found["pulse"] = _pulse(said.get("pulse"))
        elif field.name in said:
            value = said[field.name].decode(errors="replace")
            if field.type is int and not value.isdecimal():
                raise Garbled(f"an announcement whose {field.name} is {value!r}")
            found[field.name] = int(value) if field.type is int else value
        elif field.default is MISSING:
            raise Garbled(f"an announcement without {field.name}")
    return Announcement(**found)


def _pulse(said: bytes | None) -> Pulse | None:
    try:
        return None if said is None else pulses.decode(said)
    except Garbled:
        return None
