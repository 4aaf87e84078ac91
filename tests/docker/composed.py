"""`docker/compose.yaml` as Docker would see it, with `.env.example` filled in."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import yaml

from dashboard.cli.root import ROOT

DOCKER = ROOT / "docker"
FILE = DOCKER / "compose.yaml"
EXAMPLE = DOCKER / ".env.example"
SECRET = "5ec2e75ec2e75ec2e7"

_REFERENCE = re.compile(r"\$\$|\$\{(?P<name>\w+)(?:(?P<how>:[-?])(?P<rest>[^}]*))?\}")


def example() -> dict[str, str]:
    lines = EXAMPLE.read_text().splitlines()
    pairs = (line.partition("=") for line in lines if line and not line.startswith("#"))
    return {name: value for name, _, value in pairs}


def filled_in() -> dict[str, str]:
    """The example as a person would leave it: every empty value that is required has one."""
    return {
        name: value or (SECRET if name in required() else "") for name, value in example().items()
    }


def references() -> dict[str, set[tuple[str, str]]]:
    """Every variable the file asks for, with how: (":-", its default) or (":?", its complaint)."""
    found: dict[str, set[tuple[str, str]]] = {}
    for match in _REFERENCE.finditer(FILE.read_text()):
        if match["name"]:
            found.setdefault(match["name"], set()).add((match["how"] or "", match["rest"] or ""))
    return found


def required() -> set[str]:
    return {name for name, uses in references().items() if any(how == ":?" for how, _ in uses)}


def interpolated(values: dict[str, str]) -> dict[str, Any]:
    """Our reading of Docker's rules: `${NAME:-default}`, `${NAME:?complaint}` and `$$`."""

    def replace(match: re.Match[str]) -> str:
        name = match["name"]
        if name is None:
            return "$"
        value = values.get(name) or (match["rest"] if match["how"] == ":-" else "")
        assert value or match["how"] != ":?", f"{name}: {match['rest']}"
        return value

    loaded: dict[str, Any] = yaml.safe_load(_REFERENCE.sub(replace, FILE.read_text()))
    return loaded


def has_compose() -> bool:
    docker = shutil.which("docker")
    if docker is None:
        return False
    return subprocess.run([docker, "compose", "version"], capture_output=True).returncode == 0


def by_docker(folder: Path) -> dict[str, Any]:
    env_file = folder / "env"
    env_file.write_text("".join(f"{name}={value}\n" for name, value in filled_in().items()))
    words = ["docker", "compose", "-f", str(FILE), "--env-file", str(env_file)]
    done = subprocess.run(
        [*words, "config", "--format", "json"], capture_output=True, text=True, check=True
    )
    loaded: dict[str, Any] = json.loads(done.stdout)
    return loaded
