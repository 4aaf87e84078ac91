"""Reads and checks the environment variables; errors say which one is wrong and what would do.

A wrong value must stop a process at its start, not half-way, so all are parsed here and nowhere
else; `manage.py`, the server and the worker all import `dashboard.settings`.
"""

import ipaddress
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import dj_database_url

from dashboard.private_files import close_database, close_folder

ROOT = Path(__file__).resolve().parent.parent

DEFAULT_REDIS_URL = "redis://127.0.0.1:6379/0"
REDIS_SCHEMES = ("redis", "rediss", "unix")
DEFAULT_DAYS = "30"
ARCHIVE_SCHEMES = ("", "file", "s3a", "s3", "hdfs")
NO_ARCHIVE = "off"
DATABASE_SCHEMES = ("sqlite", "postgres", "postgresql")

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class EnvironmentFault(ValueError):
    """A variable that cannot be used; the message names it and says what would do."""


@dataclass(frozen=True)
class Environment:
    data_dir: Path
    redis_url: str
    database: dict[str, Any]
    secret_key: str
    debug: bool
    allowed_hosts: tuple[str, ...]
    trusted_origins: tuple[str, ...]
    record_retention_days: int
    techniques: tuple[str, ...]
    public_url: str
    webhook_allowed_networks: tuple[Network, ...]
    archive: str | None
    archive_days: int
    archive_options: Mapping[str, str] = field(repr=False)

    @property
    def behind_tls(self) -> bool:
        """Whether all public origins are https, so that browsers use TLS only."""
        origins = self.trusted_origins
        return bool(origins) and all(origin.startswith("https://") for origin in origins)


def read(environ: Mapping[str, str] = os.environ) -> Environment:
    data_dir = Path(environ.get("CURTAIL_DATA_DIR") or ROOT / ".curtail")
    # If the folder cannot be made, the code that needs it reports the error.
    with suppress(OSError):
        close_folder(data_dir)
    found = Environment(
        data_dir=data_dir,
        redis_url=redis_url(environ.get("REDIS_URL") or DEFAULT_REDIS_URL),
        database=database(environ.get("DATABASE_URL") or f"sqlite:///{data_dir}/curtail.sqlite3"),
        secret_key=environ.get("CURTAIL_SECRET_KEY") or _kept_secret(data_dir),
        debug=environ.get("CURTAIL_DEBUG", "") == "1",
        allowed_hosts=_comma_separated(
            environ.get("CURTAIL_ALLOWED_HOSTS") or "localhost,127.0.0.1,[::1]"
        ),
        trusted_origins=_comma_separated(environ.get("CURTAIL_TRUSTED_ORIGINS") or ""),
        record_retention_days=_days(
            "CURTAIL_RECORD_RETENTION_DAYS", environ.get("CURTAIL_RECORD_RETENTION_DAYS")
        ),
        techniques=_comma_separated(environ.get("CURTAIL_TECHNIQUES") or ""),
        public_url=public_url(environ.get("CURTAIL_PUBLIC_URL") or ""),
        webhook_allowed_networks=networks(environ.get("CURTAIL_WEBHOOK_ALLOWED_NETWORKS") or ""),
        archive=archive(environ.get("CURTAIL_ARCHIVE") or str(data_dir / "archive")),
        archive_days=_days("CURTAIL_ARCHIVE_DAYS", environ.get("CURTAIL_ARCHIVE_DAYS")),
        archive_options=options(environ.get("CURTAIL_ARCHIVE_OPTIONS") or ""),
    )
    close_database(found.database)
    return found


def redis_url(text: str) -> str:
    parts = _split("REDIS_URL", text)
    if parts.scheme not in REDIS_SCHEMES:
        raise EnvironmentFault(
            f"REDIS_URL: {text!r} is not a Redis address; "
            f"write something like {DEFAULT_REDIS_URL} (or rediss://, unix://)"
        )
    return text


def database(text: str) -> dict[str, Any]:
    parts = _split("DATABASE_URL", text)
    if parts.scheme not in DATABASE_SCHEMES:
        raise EnvironmentFault(
            f"DATABASE_URL: {text!r} is not a database address; "
            "write sqlite:////var/lib/curtail/curtail.sqlite3 or postgres://user:password@host/name"
        )
    try:
        config = dict(dj_database_url.parse(text, conn_max_age=60))
    except ValueError as error:
        raise EnvironmentFault(f"DATABASE_URL: {text!r} cannot be read: {error}") from error
    if parts.scheme == "sqlite":
        # WAL: readers do not block the one writer; a timeout instead of "database is locked".
        config["OPTIONS"] = {
            "timeout": 20,
            "transaction_mode": "IMMEDIATE",
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        }
    return config


def public_url(text: str) -> str:
    """The URL of the dashboard for links in alerts; without it, alerts have no links."""
    if not text:
        return ""
    parts = _split("CURTAIL_PUBLIC_URL", text)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise EnvironmentFault(
            f"CURTAIL_PUBLIC_URL: {text!r} is no address of a dashboard; "
            "write something like https://curtail.example.com"
        )
    return text.rstrip("/")


def networks(text: str) -> tuple[Network, ...]:
    """Private networks to which webhooks are allowed."""
    try:
        return tuple(ipaddress.ip_network(each) for each in _comma_separated(text))
    except ValueError as error:
        raise EnvironmentFault(
            f"CURTAIL_WEBHOOK_ALLOWED_NETWORKS: {error}; write networks such as 10.1.0.0/16"
        ) from error


def archive(text: str) -> str | None:
    """Where windows are kept for weeks; None for nowhere."""
    if text == NO_ARCHIVE:
        return None
    parts = _split("CURTAIL_ARCHIVE", text)
    host_missing = parts.scheme in ("s3a", "s3") and not parts.netloc
    host_too_much = parts.scheme == "file" and parts.netloc not in ("", "localhost")
    if parts.scheme not in ARCHIVE_SCHEMES or host_missing or host_too_much:
        raise EnvironmentFault(
            f"CURTAIL_ARCHIVE: {text!r} is no place for the archive; write a path, "
            f"file:///path, s3a://bucket/path, hdfs://host:port/path, or {NO_ARCHIVE} for none"
        )
    return text


def options(text: str) -> Mapping[str, str]:
    """The archive's storage options: credentials, endpoint, region. A comma ends a value."""
    found: dict[str, str] = {}
    for number, part in enumerate(_comma_separated(text), 1):
        name, equals, value = part.partition("=")
        if not equals or not name.strip():
            # Not the text itself: the part may be a secret.
            raise EnvironmentFault(
                f"CURTAIL_ARCHIVE_OPTIONS: entry {number} is not name=value; "
                "write something like AWS_REGION=eu-central-1,AWS_ACCESS_KEY_ID=…"
            )
        found[name.strip()] = value.strip()
    return found


def _split(name: str, text: str) -> Any:
    try:
        parts = urlsplit(text)
        _ = parts.port  # raises where the port is no number
    except ValueError as error:
        raise EnvironmentFault(f"{name}: {text!r} is not an address: {error}") from error
    return parts


def _comma_separated(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _days(name: str, given: str | None) -> int:
    text = given or DEFAULT_DAYS
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 3650:
        raise EnvironmentFault(f"{name}: {text!r} is not a number of days from 1 to 3650")
    return int(text)


def _kept_secret(data_dir: Path) -> str:
    """The secret key of this installation, created once so that sessions survive a restart."""
    path = data_dir / "secret_key"
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_text()
    except OSError as error:
        raise EnvironmentFault(
            f"CURTAIL_DATA_DIR: {str(data_dir)!r} cannot be written: {error.strerror}"
        ) from error
    with os.fdopen(descriptor, "w") as file:
        file.write(key := secrets.token_urlsafe(50))
    return key
