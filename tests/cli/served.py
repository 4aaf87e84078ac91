"""`curtail up` or `curtail demo`, running for real."""

import http.cookiejar
import re
import subprocess
import sys
import urllib.parse
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

import psutil

from dashboard.cli.root import ROOT
from tests.cli.conftest import alive
from tests.waiting import until

START_S = 60


class Served:
    def __init__(self, *words: str, env: Mapping[str, str], output: Path) -> None:
        self._path = output
        with output.open("wb") as file:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "dashboard.cli", *words],
                cwd=ROOT,
                env=env,
                stdout=file,
                stderr=file,
            )
        self._family: list[psutil.Process] = []

    def __enter__(self) -> "Served":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()  # its warden ends the rest
            self.process.wait()
        if error is not None:
            print(self.output)

    @property
    def output(self) -> str:
        return self._path.read_text()

    def says(self, words: str) -> None:
        until(lambda: words in self.output or self.process.poll() is not None, START_S)
        assert words in self.output, self.output

    def word_after(self, key: str) -> str:
        found = re.search(rf"{re.escape(key)}\s+(\S+)", self.output)
        assert found is not None, self.output
        return found[1]

    def stops(self) -> int:
        """Asks it to, after noting every process there is to end."""
        self._family = psutil.Process(self.process.pid).children(recursive=True)
        self.process.terminate()
        return self.process.wait(60)

    def left_running(self) -> list[psutil.Process]:
        assert self._family
        return [one for one in self._family if one.is_running() and alive(one.pid)]

    def logs_in(self, address: str, login: str, password: str) -> bool:
        cookies = http.cookiejar.CookieJar()
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(cookies))
        browser.open(f"{address}/login", timeout=30).close()
        (token,) = [cookie.value or "" for cookie in cookies if cookie.name == "csrftoken"]
        fields = {"username": login, "password": password, "csrfmiddlewaretoken": token}
        body = urllib.parse.urlencode(fields).encode()
        browser.open(f"{address}/login", body, timeout=30).close()
        return any(cookie.name == "sessionid" for cookie in cookies)
