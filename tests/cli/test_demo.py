import os
import socket
from pathlib import Path

import pytest

from dashboard.cli import demo
from dashboard.cli.supervise import Failed
from tests.cli.served import Served


def test_it_serves_a_login_that_works_and_leaves_nothing_behind(tmp_path: Path) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    env = {**os.environ, "TMPDIR": str(folder), "REDIS_URL": "redis://not-this-one"}
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen(1)
        port = str(taken.getsockname()[1])
        words = ("demo", "--no-jobs", "--port", port)
        with Served(*words, env=env, output=tmp_path / "output") as it:
            it.says("Ctrl-C stops everything.")
            assert f"curtail: port {port} is in use; taking " in it.output
            address = it.word_after("Curtail").rstrip("/")
            assert it.logs_in(address, it.word_after("login"), it.word_after("password"))
            assert it.stops() == 0
            assert it.left_running() == []
    assert list(folder.iterdir()) == []


def test_a_password_that_never_came_is_a_failure() -> None:
    assert demo._password(["login: operator", "password: abc"]) == "abc"
    with pytest.raises(Failed):
        demo._password([])
