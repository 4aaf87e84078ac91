"""Compiles the probe with the Scala compiler that PySpark ships: no sbt, no Maven, no JDK.

The jar lies in the user's cache folder under a name made of the sources, the Spark and the Java
version, so it is made once and made again when one of them changes.
"""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

PROBE_DIR = Path(__file__).parent.parent / "probe"
OLDEST_JAVA = 17


class BuildFault(RuntimeError):
    """The probe cannot be built here; the message says what to do."""


def probe_jar() -> Path:
    """The compiled probe, built if this is the first time."""
    return compiled("curtail-probe", sorted(PROBE_DIR.rglob("*.scala")))


def compiled(name: str, sources: list[Path]) -> Path:
    spark_jars = spark_home() / "jars"
    jar = _cache_dir() / f"{name}-{_fingerprint(sources, spark_jars)}.jar"
    if jar.exists():
        return jar
    java = _java()
    jar.parent.mkdir(parents=True, exist_ok=True)
    with open(jar.with_suffix(".lock"), "w") as lock:
        # If two jobs start together, one compiles and the other waits and finds the jar.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not jar.exists():
            _compile(java, sources, spark_jars, jar)
    return jar


def _compile(java: str, sources: list[Path], spark_jars: Path, jar: Path) -> None:
    with tempfile.TemporaryDirectory(dir=jar.parent) as folder:
        made = Path(folder) / "made.jar"
        command = [java, "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp", f"{spark_jars}/*"]
        command += ["scala.tools.nsc.Main", "-usejavacp", "-nowarn", "-d", str(made)]
        done = subprocess.run(
            command + [str(source) for source in sources], capture_output=True, text=True
        )
        if done.returncode or not made.exists():
            raise BuildFault(f"{jar.stem} does not compile:\n{done.stdout}{done.stderr}")
        os.replace(made, jar)  # whole or not at all


def _fingerprint(sources: list[Path], spark_jars: Path) -> str:
    digest = hashlib.sha256()
    for source in sources:
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    spark_core = next(spark_jars.glob("spark-core_*.jar"), None)
    if spark_core is None:
        raise BuildFault(f"no Spark in {spark_jars}: is pyspark installed, is SPARK_HOME right?")
    digest.update(spark_core.name.encode())
    return f"{spark_core.stem.rsplit('-', 1)[1]}-{digest.hexdigest()[:16]}"


def _cache_dir() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "curtail"


def spark_home(environ: Mapping[str, str] = os.environ) -> Path:
    if home := environ.get("SPARK_HOME"):
        return Path(home)
    try:
        import pyspark  # only to find its folder; SPARK_HOME does without
    except ImportError:
        raise BuildFault("neither pyspark is installed nor SPARK_HOME set") from None
    return Path(pyspark.__file__).parent


@cache
def _java() -> str:
    home = os.environ.get("JAVA_HOME")
    java = f"{home}/bin/java" if home else shutil.which("java")
    if not java or not Path(java).exists():
        raise BuildFault(
            f"no Java found: install a runtime of version {OLDEST_JAVA} or later "
            "(Debian, Ubuntu: apt-get install openjdk-17-jre-headless) or set JAVA_HOME"
        )
    said = subprocess.run([java, "-version"], capture_output=True, text=True).stderr
    version = re.search(r'version "(\d+)', said)
    if not version or int(version[1]) < OLDEST_JAVA:
        found = said.splitlines()[0] if said else "nothing"
        raise BuildFault(f"Spark 4 needs Java {OLDEST_JAVA} or later; {java} says: {found}")
    return java
