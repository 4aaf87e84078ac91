import fnmatch
import json
import re

from dashboard.cli import programs
from dashboard.cli.root import ROOT

FILE = ROOT / "docker" / "Dockerfile"


def instructions() -> list[tuple[str, str]]:
    lines = [line for line in FILE.read_text().splitlines() if not line.startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    words = (line.partition(" ") for line in joined.splitlines() if line)
    return [(name, rest.strip()) for name, _, rest in words]


def copied() -> list[str]:
    return [
        source for name, rest in instructions() if name == "COPY" for source in rest.split()[:-1]
    ]


def ignored(path: str) -> bool:
    """Docker's rule, as far as our file uses it: the last line that matches decides."""
    verdict = False
    for line in (ROOT / ".dockerignore").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        pattern = line.removeprefix("!").removeprefix("**/")
        parts = path.split("/")
        whole = ["/".join(parts[: end + 1]) for end in range(len(parts))]
        if any(fnmatch.fnmatch(part, pattern) for part in (*whole, *parts)):
            verdict = not line.startswith("!")
    return verdict


def test_everything_it_copies_exists_and_reaches_the_builder() -> None:
    assert copied()
    assert [path for path in copied() if not (ROOT / path).exists()] == []
    assert [path for path in copied() if ignored(path)] == []


def test_secrets_history_and_environments_stay_outside() -> None:
    assert all(
        map(ignored, ["docker/.env", ".git/config", ".venv/bin/python", ".curtail/secret_key"])
    )


def test_it_carries_every_package_the_server_imports() -> None:
    assert {"collectors", "techniques", "dashboard", "frontend"} <= set(copied())


def test_it_does_not_run_as_root() -> None:
    names = [name for name, _ in instructions()]
    (user,) = [rest for name, rest in instructions() if name == "USER"]
    assert user not in ("root", "0")
    assert names.index("USER") > max(at for at, name in enumerate(names) if name == "RUN")


def test_it_runs_the_server_that_up_starts() -> None:
    (command,) = [rest for name, rest in instructions() if name == "CMD"]
    assert json.loads(command) == ["python", *programs.server({}, "0.0.0.0", 8000).argv[1:]]


def test_packages_are_installed_with_their_hashes() -> None:
    installs = [rest for name, rest in instructions() if name == "RUN" and "install" in rest]
    assert installs
    for line in installs:
        assert line.count("--require-hashes") == line.count("pip install")
