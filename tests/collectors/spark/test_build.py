import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from collectors.spark import build
from collectors.spark.build import BuildFault, probe_jar


@pytest.fixture(autouse=True)
def fresh_java() -> None:
    build._java.cache_clear()


def timed(work: Callable[[], Path]) -> tuple[Path, float]:
    began_s = time.monotonic()
    return work(), time.monotonic() - began_s


def test_the_probe_compiles_once_and_is_found_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    jar, made_s = timed(probe_jar)
    made_at = jar.stat().st_mtime_ns
    found, found_s = timed(probe_jar)
    assert found == jar
    assert found_s < made_s / 4
    assert jar.stat().st_mtime_ns == made_at
    assert jar.is_relative_to(tmp_path)


def test_a_changed_source_or_another_spark_makes_another_jar(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = tmp_path / "A.scala"
    sources.write_text("object A")
    (tmp_path / "spark-core_2.13-4.3.0.jar").touch()
    first = build._fingerprint([sources], tmp_path)
    sources.write_text("object A { }")
    second = build._fingerprint([sources], tmp_path)
    (tmp_path / "spark-core_2.13-4.3.0.jar").rename(tmp_path / "spark-core_2.13-4.3.1.jar")
    third = build._fingerprint([sources], tmp_path)
    assert len({first, second, third}) == 3
    assert third.startswith("4.3.1-")


def test_without_java_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BuildFault, match="apt-get install openjdk-17-jre-headless"):
        probe_jar()


def test_an_old_java_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(BuildFault, match=r"Java 17 or later.*11\.0\.2"):
        probe_jar()


def test_a_source_that_does_not_compile_shows_the_compilers_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "Broken.scala").write_text("object Broken { def x: Int = }")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(build, "PROBE_DIR", tmp_path)
    with pytest.raises(BuildFault, match=r"Broken\.scala:1"):
        probe_jar()
    assert not list((tmp_path / "curtail").glob("*.jar"))


def test_an_unbuildable_probe_leaves_the_users_session_alone(tmp_path: Path) -> None:
    script = (
        "from pyspark.sql import SparkSession\n"
        "from collectors import instrument\n"
        "builder = instrument(SparkSession.Builder().appName('orders'))\n"
        "print(sorted(builder._options))\n"
    )
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "JAVA_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "['spark.app.name']"
    assert "runs unseen" in done.stderr
