import os
import subprocess
import sys
from pathlib import Path

from dashboard.cli import ports
from dashboard.cli.root import ROOT
from tests.cli.served import Served


def up(data_dir: Path, *words: str, **variables: str) -> tuple[int, str]:
    """What a start that must not succeed gives: its code, and its words on stderr."""
    bare = {name: text for name, text in os.environ.items() if not name.startswith("CURTAIL_")}
    env = {**bare, "CURTAIL_DATA_DIR": str(data_dir), **variables}
    done = subprocess.run(
        [sys.executable, "-m", "dashboard.cli", "up", *words],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == ""
    return done.returncode, done.stderr


def test_a_redis_that_is_not_there_is_one_clear_line(tmp_path: Path) -> None:
    address = f"127.0.0.1:{ports.any_free()}/0"
    assert up(tmp_path, REDIS_URL=f"redis://:hunter2@{address}") == (
        2,
        f"curtail: REDIS_URL: cannot reach redis://:***@{address}: Connection refused\n",
    )


def test_a_redis_socket_that_is_not_there_is_one_clear_line(tmp_path: Path) -> None:
    missing = tmp_path / "no.sock"
    assert up(tmp_path, REDIS_URL=f"unix://{missing}") == (
        2,
        f"curtail: REDIS_URL: cannot reach unix://{missing}: No such file or directory\n",
    )


def test_a_password_that_redis_refuses_is_not_shown(tmp_path: Path, redis_url: str) -> None:
    code, said = up(tmp_path, REDIS_URL=redis_url.replace("//", "//me:hunter2@"))
    assert code == 2
    assert said.count("\n") == 1
    assert said.startswith("curtail: REDIS_URL: cannot reach redis://me:***@127.0.0.1:")
    assert "hunter2" not in said


def test_a_wrong_kind_of_address_is_one_line_without_its_password(tmp_path: Path) -> None:
    code, said = up(tmp_path, REDIS_URL="http://me:hunter2@cache")
    assert code == 2
    assert said.startswith("curtail: REDIS_URL: 'http://me:***@cache' is not a Redis address")
    assert said.count("\n") == 1


def test_a_database_that_is_not_there_is_one_clear_line(tmp_path: Path, redis_url: str) -> None:
    port = ports.any_free()
    address = f"127.0.0.1:{port}/curtail"
    code, said = up(tmp_path, REDIS_URL=redis_url, DATABASE_URL=f"postgres://me:hunter2@{address}")
    assert code == 2
    assert said.startswith(f"curtail: DATABASE_URL: cannot reach postgres://me:***@{address}: ")
    assert "Connection refused" in said
    assert said.count("\n") == 1


def test_a_database_file_that_cannot_be_made_is_one_clear_line(
    tmp_path: Path, redis_url: str
) -> None:
    database = f"sqlite:///{tmp_path}/no/such/folder/curtail.sqlite3"
    assert up(tmp_path, REDIS_URL=redis_url, DATABASE_URL=database) == (
        2,
        f"curtail: DATABASE_URL: cannot reach {database}: unable to open database file\n",
    )


def test_a_data_folder_that_cannot_be_made_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    code, said = up(tmp_path / "file" / "data", CURTAIL_SECRET_KEY="x" * 50)
    assert code == 2
    assert said == (
        f"curtail: CURTAIL_DATA_DIR: {tmp_path}/file/data cannot be written: Not a directory\n"
    )


def test_a_port_in_use_is_one_clear_line(tmp_path: Path, redis_url: str) -> None:
    taken = redis_url.removesuffix("/0").rpartition(":")[2]
    assert up(tmp_path, "--port", taken, REDIS_URL=redis_url) == (
        2,
        f"curtail: 127.0.0.1:{taken} is in use or not ours; choose another with --port\n",
    )


def test_it_serves_and_says_the_first_password_once(tmp_path: Path, redis_url: str) -> None:
    port = ports.any_free()
    env = {**os.environ, "CURTAIL_DATA_DIR": str(tmp_path / "data"), "REDIS_URL": redis_url}
    env.pop("DATABASE_URL", None)
    with Served("up", "--port", str(port), env=env, output=tmp_path / "first") as it:
        it.says(f"listening on http://127.0.0.1:{port}/")
        assert it.logs_in(f"http://127.0.0.1:{port}", "operator", it.word_after("password:"))
        it.says(". dashboard.tasks.")  # the worker has read what it is to do
        assert it.stops() == 0
        assert it.left_running() == []
    with Served("up", "--port", str(port), env=env, output=tmp_path / "second") as it:
        it.says("listening on")
        assert "password:" not in it.output
        assert it.stops() == 0
