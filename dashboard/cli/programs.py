"""The command lines of everything Curtail runs: the same under `up`, `demo` and Docker."""

import sys
from collections.abc import Mapping
from pathlib import Path

from dashboard.cli.child import Program

SETTINGS = "dashboard.settings"
# Browsers keep their WebSockets open for ever; a stopping server does not wait for them.
SHUTDOWN_S = 2


def environ(base: Mapping[str, str], **extra: str) -> dict[str, str]:
    """The environment of every child: our Django settings, and unbuffered output."""
    return {**base, "DJANGO_SETTINGS_MODULE": SETTINGS, "PYTHONUNBUFFERED": "1", **extra}


def manage(env: Mapping[str, str], command: str, *words: str) -> Program:
    argv = (sys.executable, "-m", "django", command, *words)
    return Program(command, argv, env, quiet=True)


def server(env: Mapping[str, str], host: str, port: int, log: Path | None = None) -> Program:
    words = ("uvicorn", "dashboard.asgi:application", "--ws", "websockets")
    where = ("--host", host, "--port", str(port))
    patience = ("--timeout-graceful-shutdown", str(SHUTDOWN_S))
    return Program("server", (sys.executable, "-m", *words, *where, *patience), env, log)


def worker(env: Mapping[str, str], data_dir: Path, log: Path | None = None) -> Program:
    words = ("celery", "-A", "dashboard.celery_app", "worker", "--concurrency", "1")
    beat = ("-B", "-s", str(data_dir / "beat"))
    return Program("worker", (sys.executable, "-m", *words, *beat, "--loglevel", "INFO"), env, log)


def redis(env: Mapping[str, str], port: int, data_dir: Path) -> Program:
    where = ("--bind", "127.0.0.1", "--port", str(port), "--dir", str(data_dir))
    nothing_kept = ("--save", "", "--appendonly", "no", "--maxmemory", "512mb")
    log = data_dir / "redis.log"
    return Program("redis", ("redis-server", *where, *nothing_kept), env, log, stage=0)


def probe(env: Mapping[str, str]) -> Program:
    return Program(
        "probe",
        (sys.executable, "-c", "from collectors.spark.build import probe_jar; probe_jar()"),
        env,
    )


def job(env: Mapping[str, str], name: str, data_dir: Path, *options: str) -> Program:
    words = ("-m", f"examples.{name}", "--checkpoint", str(data_dir / "checkpoints" / name))
    return Program(name, (sys.executable, *words, *options), env, data_dir / f"{name}.log")


def same_python() -> dict[str, str]:
    """Makes Spark use this Python: the `python3` on the PATH may not have our packages."""
    return {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
