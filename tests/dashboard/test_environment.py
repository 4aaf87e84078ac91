import os
import subprocess
import sys
from pathlib import Path

import pytest

from dashboard import environment
from dashboard.environment import EnvironmentFault


def read(tmp_path: Path, **variables: str) -> environment.Environment:
    return environment.read({"CURTAIL_DATA_DIR": str(tmp_path), **variables})


def test_the_defaults_are_local(tmp_path: Path) -> None:
    found = read(tmp_path)
    assert found.redis_url == "redis://127.0.0.1:6379/0"
    assert found.database["ENGINE"] == "django.db.backends.sqlite3"
    assert found.debug is False


def test_postgresql_is_taken_from_the_address(tmp_path: Path) -> None:
    found = read(tmp_path, DATABASE_URL="postgres://eve:secret@node-a:5433/curtail")
    assert found.database["ENGINE"] == "django.db.backends.postgresql"
    assert (found.database["HOST"], found.database["PORT"]) == ("node-a", 5433)


def test_networks_that_webhooks_may_go_to_are_listed(tmp_path: Path) -> None:
    found = read(tmp_path, CURTAIL_WEBHOOK_ALLOWED_NETWORKS="10.1.0.0/16, fd00:1::/32")
    assert [str(each) for each in found.webhook_allowed_networks] == ["10.1.0.0/16", "fd00:1::/32"]
    assert read(tmp_path).webhook_allowed_networks == ()


@pytest.mark.parametrize(
    "uri", ["/srv/archive", "file:///srv", "s3a://bucket/a", "hdfs://nn:9000/"]
)
def test_the_archive_is_where_the_environment_says(tmp_path: Path, uri: str) -> None:
    found = read(tmp_path, CURTAIL_ARCHIVE=uri, CURTAIL_ARCHIVE_OPTIONS="A=b=c, D=e")
    assert found.archive == uri
    assert found.archive_options == {"A": "b=c", "D": "e"}


def test_the_archive_is_in_the_data_folder_for_a_month_or_off(tmp_path: Path) -> None:
    found = read(tmp_path)
    assert found.archive == str(tmp_path / "archive")
    assert (found.archive_days, found.archive_options) == (30, {})
    assert read(tmp_path, CURTAIL_ARCHIVE="off").archive is None


def test_secrets_among_the_options_of_the_archive_are_not_told(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFault) as told:
        read(tmp_path, CURTAIL_ARCHIVE_OPTIONS="A=b,hunter2")
    assert "hunter2" not in str(told.value)
    assert "hunter2" not in repr(read(tmp_path, CURTAIL_ARCHIVE_OPTIONS="A=hunter2"))


@pytest.mark.parametrize(
    ("origins", "behind_tls"),
    [
        ("", False),
        ("https://curtail.example.com", True),
        ("https://curtail.example.com,http://localhost:8000", False),
    ],
)
def test_cookies_need_tls_where_browsers_have_nothing_else(
    tmp_path: Path, origins: str, behind_tls: bool
) -> None:
    assert read(tmp_path, CURTAIL_TRUSTED_ORIGINS=origins).behind_tls is behind_tls


def test_the_secret_key_is_made_once_and_kept_private(tmp_path: Path) -> None:
    first = read(tmp_path).secret_key
    assert read(tmp_path).secret_key == first
    assert len(first) >= 50
    assert (tmp_path / "secret_key").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("REDIS_URL", "http://node-a"),
        ("REDIS_URL", "node-a:6379"),
        ("REDIS_URL", "redis://node-a:port"),
        ("DATABASE_URL", "mongodb://node-a"),
        ("DATABASE_URL", "postgres://node-a:port/x"),
        ("DATABASE_URL", "curtail.db"),
        ("CURTAIL_RECORD_RETENTION_DAYS", "0"),
        ("CURTAIL_RECORD_RETENTION_DAYS", "forever"),
        ("CURTAIL_PUBLIC_URL", "curtail.example.com"),
        ("CURTAIL_PUBLIC_URL", "https://"),
        ("CURTAIL_WEBHOOK_ALLOWED_NETWORKS", "10.0.0.1/8"),
        ("CURTAIL_WEBHOOK_ALLOWED_NETWORKS", "everywhere"),
        ("CURTAIL_ARCHIVE", "ftp://node-a/archive"),
        ("CURTAIL_ARCHIVE", "s3a:///no-bucket"),
        ("CURTAIL_ARCHIVE", "file://host/path"),
        ("CURTAIL_ARCHIVE_DAYS", "0"),
        ("CURTAIL_ARCHIVE_DAYS", "a month"),
        ("CURTAIL_ARCHIVE_OPTIONS", "AWS_REGION=eu,surplus"),
        ("CURTAIL_ARCHIVE_OPTIONS", "=value"),
    ],
)
def test_a_value_that_cannot_be_used_is_named(tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(EnvironmentFault, match=f"^{name}: "):
        read(tmp_path, **{name: value})


def test_a_wrong_address_stops_any_process_with_one_line_and_code_2(tmp_path: Path) -> None:
    env = {**os.environ, "CURTAIL_DATA_DIR": str(tmp_path), "REDIS_URL": "http://node-a"}
    done = subprocess.run(
        [sys.executable, "manage.py", "check"], env=env, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert done.stderr.startswith("curtail: REDIS_URL: 'http://node-a' is not a Redis address")
    assert len(done.stderr.splitlines()) == 1
