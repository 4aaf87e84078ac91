"""Redis, server and worker on free ports with a fresh database, as `./curtail demo` starts them."""

import os
import socket
import subprocess
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from dashboard.cli import ports, programs
from dashboard.cli.child import Program
from dashboard.cli.root import ROOT
from dashboard.testing.running import Running

HOST = "127.0.0.1"
USERNAME = "operator"


class RedisServer:
    """A real redis-server that can be killed and started again on its port."""

    def __init__(self, data_dir: Path) -> None:
        self._port = ports.any_free(HOST)
        self._program = programs.redis(os.environ, self._port, data_dir)
        self._running: Running | None = None
        self.url = f"redis://{HOST}:{self._port}/0"

    def start(self) -> None:
        self._running = Running(self._program).wait_until(self._answers)

    def stop(self) -> None:
        if self._running:
            self._running.end()
            self._running = None

    def _answers(self) -> bool:
        try:
            with socket.create_connection((HOST, self._port), timeout=2) as client:
                client.sendall(b"PING\r\n")
                return client.recv(16).startswith(b"+PONG")
        except OSError:
            return False


@dataclass(frozen=True)
class Stack:
    url: str
    username: str
    password: str
    redis: RedisServer
    data_dir: Path
    env: dict[str, str]
    server_pid: int
    worker_pid: int

    def manage(self, command: str, *words: str) -> str:
        """Runs a command of `manage.py` on this stack's database and returns its output."""
        return _manage(self.env, command, *words)

    def job(self, name: str, *words: str) -> Program:
        """An example job of this stack, to be run with `Running`."""
        return programs.job(self.env, name, self.data_dir, *words)


@contextmanager
def redis_server() -> Iterator[RedisServer]:
    with _folder() as data_dir:
        server = RedisServer(data_dir)
        server.start()
        try:
            yield server
        finally:
            server.stop()


@contextmanager
def stack(**environment: str) -> Iterator[Stack]:
    """Yields a running stack; `environment` is set for all of its programs, jobs too."""
    with ExitStack() as cleanup:
        data_dir = cleanup.enter_context(_folder())
        redis = RedisServer(data_dir)
        cleanup.callback(redis.stop)
        redis.start()
        port = ports.any_free(HOST)
        env = programs.environ(
            os.environ,
            CURTAIL_DATA_DIR=str(data_dir),
            REDIS_URL=redis.url,
            DATABASE_URL=f"sqlite:///{data_dir}/curtail.sqlite3",
            **programs.same_python(),
            # Tests that want the archiver start it themselves: none should meet its JVM by chance.
            **{"CURTAIL_ARCHIVE": "off", **environment},
        )
        _manage(env, "migrate", "--no-input", "--verbosity", "0")
        said = _manage(env, "ensure_operator", "--username", USERNAME)
        server = Running(programs.server(env, HOST, port, data_dir / "server.log"))
        cleanup.callback(server.end)
        worker = Running(programs.worker(env, data_dir, data_dir / "worker.log"))
        cleanup.callback(worker.end)
        server.wait_until(lambda: _answers(f"http://{HOST}:{port}/login"))
        password = said.partition("password:")[2].split()[0]
        url = f"http://{HOST}:{port}"
        yield Stack(url, USERNAME, password, redis, data_dir, env, server.pid, worker.pid)


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="curtail-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _manage(env: dict[str, str], command: str, *words: str) -> str:
    program = programs.manage(env, command, *words)
    done = subprocess.run(program.argv, cwd=ROOT, env=env, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5):
            return True
    except OSError:
        return False
