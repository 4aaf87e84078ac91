"""`instrument()` in a program whose JVM runs already; nothing here starts one."""

from types import SimpleNamespace

import pytest
from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from collectors import instrument
from collectors.spark import session
from collectors.spark.conf import PLUGIN


class Loader:
    """The class loader of a JVM: what it finds, and only after which jar."""

    def __init__(self, takes_jars: bool) -> None:
        self.urls: list[str] = []
        self._takes_jars = takes_jars

    def loadClass(self, name: str) -> None:
        if name != PLUGIN or not self.urls:
            raise Py4JError(f"ClassNotFoundException: {name}")

    def addURL(self, url: str) -> None:
        if not self._takes_jars:
            raise Py4JError("Method addURL([class java.net.URL]) does not exist")
        self.urls.append(url)


def jvm(loader: Loader, **properties: str) -> SimpleNamespace:
    """As py4j shows it, as far as `instrument()` looks."""

    def file(path: str) -> SimpleNamespace:
        return SimpleNamespace(toURI=lambda: SimpleNamespace(toURL=lambda: f"file:{path}"))

    known = SimpleNamespace(
        stringPropertyNames=lambda: list(properties), getProperty=properties.__getitem__
    )
    thread = SimpleNamespace(getContextClassLoader=lambda: loader)
    return SimpleNamespace(
        System=SimpleNamespace(getProperties=lambda: known),
        Thread=SimpleNamespace(currentThread=lambda: thread),
        java=SimpleNamespace(io=SimpleNamespace(File=file)),
    )


def test_the_jar_is_given_to_a_jvm_that_runs_already(monkeypatch: pytest.MonkeyPatch) -> None:
    loader = Loader(takes_jars=True)
    monkeypatch.setattr(session, "running_jvm", lambda: jvm(loader))
    builder = instrument(SparkSession.Builder())
    assert builder._options["spark.plugins"] == PLUGIN
    assert [url.endswith(".jar") for url in loader.urls] == [True]


def test_a_jvm_that_takes_no_jar_runs_its_job_unseen(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(session, "running_jvm", lambda: jvm(Loader(takes_jars=False)))
    builder = instrument(SparkSession.Builder().config("spark.app.name", "orders"))
    assert builder._options == {"spark.app.name": "orders"}
    assert "runs unseen" in caplog.text


def test_plugins_that_were_given_to_spark_submit_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    submitted = jvm(
        Loader(takes_jars=True), **{"spark.plugins": "com.acme.Plugin", "user.dir": "/"}
    )
    monkeypatch.setattr(session, "running_jvm", lambda: submitted)
    builder = instrument(SparkSession.Builder())
    assert builder._options["spark.plugins"] == f"com.acme.Plugin,{PLUGIN}"
