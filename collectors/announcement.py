"""What a job says of itself: one Redis hash per job, renewed with every heartbeat."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from collectors.codec import Garbled


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


def to_hash(announcement: Announcement) -> dict[str, str | int]:
    return asdict(announcement)


def from_hash(values: Mapping[bytes, bytes]) -> Announcement:
    texts = {key.decode(errors="replace"): value for key, value in values.items()}
    found: dict[str, Any] = {}
    for field in fields(Announcement):
        if field.name not in texts:
            raise Garbled(f"an announcement without {field.name}")
        value = texts[field.name].decode(errors="replace")
        if field.type is int and not value.isdigit():
            raise Garbled(f"an announcement whose {field.name} is {value!r}")
        found[field.name] = int(value) if field.type is int else value
    return Announcement(**found)
