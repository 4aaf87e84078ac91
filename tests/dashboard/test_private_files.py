"""Who may read a session key in SQLite's file is whoever that session belongs to."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dashboard import environment
from dashboard.cli.root import ROOT

DATABASE = "curtail.sqlite3"


@pytest.fixture(autouse=True)
def _usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o7777


def test_a_new_installation_is_its_owners_alone(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    env = {**os.environ, "CURTAIL_DATA_DIR": str(folder), "DATABASE_URL": ""}
    command = [sys.executable, "manage.py", "shell", "-v", "0", "-c", WRITE]
    said = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    modes = {path.name: mode(path) for path in folder.iterdir()} | {"folder": mode(folder)}
    assert modes["folder"] == 0o700
    assert {modes["secret_key"], modes[DATABASE]} == {0o600}
    # While the database was open: what SQLite keeps beside it is as private.
    assert said.stdout.split() == [f"{DATABASE}-shm=600", f"{DATABASE}-wal=600"]


WRITE = """
from django.conf import settings
from django.db import connection
connection.cursor().execute("CREATE TABLE t (a)")
beside = sorted(settings.ENVIRONMENT.data_dir.glob("*.sqlite3-*"))
print(*(f"{path.name}={path.stat().st_mode & 0o777:o}" for path in beside))
"""


def test_an_installation_that_others_could_read_is_closed_at_the_next_start(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    kept = [tmp_path / f"{DATABASE}{suffix}" for suffix in ("", "-wal", "-shm")]
    open_database = sqlite3.connect(kept[0])
    open_database.execute("PRAGMA journal_mode=WAL")
    open_database.execute("CREATE TABLE t (a)")
    for path in kept:
        path.chmod(0o644)
    environment.read({"CURTAIL_DATA_DIR": str(tmp_path)})
    assert mode(tmp_path) == 0o700
    assert [mode(path) for path in kept] == [0o600] * 3
    open_database.execute("INSERT INTO t VALUES (1)")
    open_database.close()


def test_a_database_elsewhere_is_closed_but_not_its_folder(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o755)
    url = f"sqlite:///{elsewhere}/ours.sqlite3"
    environment.read({"CURTAIL_DATA_DIR": str(tmp_path / "data"), "DATABASE_URL": url})
    assert (mode(elsewhere), mode(elsewhere / "ours.sqlite3")) == (0o755, 0o600)


def test_a_folder_that_everybody_shares_stays_as_it_is(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    environment.read({"CURTAIL_DATA_DIR": str(tmp_path)})
    assert (mode(tmp_path), mode(tmp_path / DATABASE)) == (0o1777, 0o600)


def test_a_database_in_memory_or_on_a_server_needs_no_file(tmp_path: Path) -> None:
    for url in ("sqlite://", "postgres://eve@node-a/curtail"):
        environment.read({"CURTAIL_DATA_DIR": str(tmp_path), "DATABASE_URL": url})
    assert [path.name for path in tmp_path.iterdir()] == ["secret_key"]
