"""The script `curtail`, run for real on a system made of stand-ins."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from dashboard.cli.root import ROOT
from tests.waiting import until

TOOLS = """
    bash cat cp date dirname env flock mkdir mv readlink rm sed sha256sum sleep tail touch tr
"""

# Stands for every Python: makes a .venv with itself in it, and notes what it is asked to do.
PYTHON = """#!/usr/bin/env bash
echo "python $*" >>"$CALLS"
case "$*" in
  -V) echo Python 3.11.9 ;;
  "-m venv .venv") mkdir -p .venv/bin && cp "$0" .venv/bin/python ;;
  *"uv pip install"*)
    while [ -e hold ]; do sleep 0.02; done
    [ ! -e uv-breaks ]
    ;;
  *"pip install"*"requirements/base.txt" | *"pip install"*"requirements/dev.txt")
    echo "no such package"
    [ ! -e pip-breaks ]
    ;;
  "-m dashboard.cli"*) echo "handed over:${*:3}" ;;
esac
"""
ID = '#!/usr/bin/env bash\necho "${FAKE_UID:-0}"\n'
APT_GET = """#!/usr/bin/env bash
echo "apt-get $* ($DEBIAN_FRONTEND)" >>"$CALLS"
[ ! -e apt-breaks ] || { echo "E: no network"; exit 100; }
[ "$1" = update ] || cp "$BIN/true-like" "$BIN/redis-server"
"""
APT_CACHE = "#!/usr/bin/env bash\n[ ! -e no-lists ]\n"


@dataclass(frozen=True)
class House:
    """A copy of the front door, with nothing on its PATH but what a test puts there."""

    root: Path
    bin: Path

    @property
    def env(self) -> dict[str, str]:
        home = self.root / "java"
        return {
            "PATH": str(self.bin),
            "BIN": str(self.bin),
            "CALLS": str(self.root / "calls"),
            "JAVA_HOME": str(home),
            "HOME": str(self.root),
            "LC_ALL": "C.UTF-8",
        }

    def open(self, *words: str, **variables: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self.root / "curtail", *words],
            env={**self.env, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def curtail(self, *words: str, **variables: str) -> "Said":
        process = self.open(*words, **variables)
        out, err = process.communicate(timeout=30)
        return Said(process.returncode, out, err)

    def calls(self, part: str) -> list[str]:
        noted = self.root / "calls"
        lines = noted.read_text().splitlines() if noted.exists() else []
        return [line for line in lines if part in line]

    def forget_calls(self) -> None:
        (self.root / "calls").unlink()

    def put(self, name: str, script: str = "#!/usr/bin/env bash\n") -> None:
        (self.bin / name).write_text(script)
        (self.bin / name).chmod(0o755)


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str


@pytest.fixture
def house(tmp_path: Path) -> House:
    root, tools = tmp_path / "repo", tmp_path / "bin"
    root.mkdir()
    tools.mkdir()
    shutil.copy(ROOT / "curtail", root)
    shutil.copytree(ROOT / "requirements", root / "requirements")
    (root / "java" / "bin").mkdir(parents=True)
    (root / "java" / "release").write_text('JAVA_VERSION="21.0.1"\n')
    it = House(root, tools)
    for name in TOOLS.split():
        found = shutil.which(name)
        assert found, name
        (tools / name).symlink_to(found)
    scripts = {"python3": PYTHON, "id": ID, "apt-get": APT_GET, "apt-cache": APT_CACHE}
    for name, script in scripts.items():
        it.put(name, script)
    for name in ("redis-server", "chromium", "true-like"):
        it.put(name)
    shutil.copy(tools / "true-like", root / "java" / "bin" / "java")
    return it


def test_it_is_valid_bash() -> None:
    subprocess.run(["bash", "-n", ROOT / "curtail"], check=True)
    assert os.access(ROOT / "curtail", os.X_OK)


def test_the_first_call_installs_with_hashes_and_hands_over(house: House) -> None:
    said = house.curtail("bench", "freshness", "--quick")
    assert said.code == 0
    assert said.out == "handed over:bench freshness --quick\n"
    assert "curtail: making .venv with Python 3.11.9 … " in said.err
    assert "curtail: installing the Python packages of requirements/base.txt … " in said.err
    assert house.calls("uv pip install") == [
        "python -m uv pip install --python .venv/bin/python --require-hashes "
        "-r requirements/base.txt"
    ]


def test_the_second_call_only_looks(house: House) -> None:
    house.curtail("bench")
    house.forget_calls()
    said = house.curtail("bench")
    assert said == Said(0, "handed over:bench\n", "")
    assert set(house.calls("")) == {"python -V", "python -m dashboard.cli bench"}


def test_the_tests_bring_their_own_packages_and_keep_the_others(house: House) -> None:
    house.curtail("bench")
    house.forget_calls()
    assert house.curtail("test", "-k", "wire").out == "handed over:test -k wire\n"
    assert house.calls("requirements/dev.txt")
    assert not house.calls("-m venv")
    house.forget_calls()
    assert house.curtail("bench").err == ""
    assert not house.calls("install")


def test_changed_requirements_are_installed_again(house: House) -> None:
    house.curtail("bench")
    house.forget_calls()
    with (house.root / "requirements" / "base.txt").open("a") as file:
        file.write("# a newer one\n")
    assert house.curtail("bench").code == 0
    assert house.calls("uv pip install")
    assert not house.calls("-m venv")


def test_pip_stands_in_where_uv_cannot(house: House) -> None:
    (house.root / "uv-breaks").touch()
    assert house.curtail("bench").code == 0
    assert house.calls("-m pip install --require-hashes -r requirements/base.txt")


def test_a_failure_shows_the_end_of_the_log_and_the_next_call_starts_anew(house: House) -> None:
    (house.root / "uv-breaks").touch()
    (house.root / "pip-breaks").touch()
    said = house.curtail("bench")
    assert said.code == 1
    assert said.out == ""
    assert "the end of .curtail/setup.log:\n" in said.err
    assert "    no such package\n" in said.err
    house.forget_calls()
    (house.root / "uv-breaks").unlink()
    assert house.curtail("bench").out == "handed over:bench\n"
    assert house.calls("-m venv")


def test_a_broken_environment_is_made_again(house: House) -> None:
    house.curtail("bench")
    (house.root / ".venv" / "bin" / "python").unlink()
    house.forget_calls()
    assert house.curtail("bench").out == "handed over:bench\n"
    assert house.calls("-m venv")


def test_of_two_calls_at_once_one_installs_and_the_other_waits(house: House) -> None:
    (house.root / "hold").touch()
    first = house.open("bench")
    until(lambda: house.calls("uv pip install"))
    second = house.open("bench")
    assert second.stderr is not None
    assert second.stderr.readline() == (
        "curtail: waiting for another ./curtail to finish its set-up\n"
    )
    (house.root / "hold").unlink()
    assert first.communicate(timeout=30)[0] == "handed over:bench\n"
    assert second.communicate(timeout=30)[0] == "handed over:bench\n"
    assert len(house.calls("uv pip install")) == 1


def test_who_is_not_root_gets_the_command_to_type(house: House) -> None:
    (house.bin / "redis-server").unlink()
    (house.bin / "chromium").unlink()
    said = house.curtail("test", FAKE_UID="1000")
    assert said.code == 3
    assert said.err == (
        "curtail: something is missing; this installs it:\n"
        "  sudo apt-get install --no-install-recommends redis-server chromium\n"
    )
    assert not house.calls("apt-get")


def test_root_gets_it_installed(house: House) -> None:
    (house.bin / "redis-server").unlink()
    said = house.curtail("demo")
    assert said.out == "handed over:demo\n"
    assert "curtail: installing redis-server … " in said.err
    (call,) = house.calls("apt-get")
    assert call.startswith("apt-get install -y --no-install-recommends ")
    assert call.endswith(" redis-server (noninteractive)")


def test_a_fresh_image_without_package_lists_reads_them_first(house: House) -> None:
    (house.bin / "redis-server").unlink()
    (house.root / "no-lists").touch()
    assert house.curtail("demo").out == "handed over:demo\n"
    assert [call.split()[1] for call in house.calls("apt-get")] == ["update", "install"]


def test_a_failing_apt_is_tried_again_with_new_lists_and_then_shown(house: House) -> None:
    (house.bin / "redis-server").unlink()
    (house.root / "apt-breaks").touch()
    said = house.curtail("demo")
    assert said.code == 1
    assert "    E: no network\n" in said.err
    assert [call.split()[1] for call in house.calls("apt-get")] == ["install", "update"]


def test_without_apt_it_says_what_is_missing(house: House) -> None:
    (house.bin / "redis-server").unlink()
    (house.bin / "apt-get").unlink()
    said = house.curtail("demo")
    assert said.code == 3
    assert said.err == ("curtail: please install what Debian calls redis-server, then try again\n")


@pytest.mark.parametrize("verb", ["up", "archive", "analyze", "conf"])
def test_a_verb_that_needs_no_redis_server_installs_none(house: House, verb: str) -> None:
    (house.bin / "redis-server").unlink()
    assert house.curtail(verb).out == f"handed over:{verb}\n"
    assert not house.calls("apt-get")


@pytest.mark.parametrize("words", [[], ["--help"], ["demo", "--help"], ["dmeo"]])
def test_help_and_mistakes_install_nothing(house: House, words: list[str]) -> None:
    (house.bin / "redis-server").unlink()
    assert house.curtail(*words).out == f"handed over:{' '.join(words)}\n"
    assert not house.calls("install")


def test_an_interpreter_can_be_named(house: House) -> None:
    house.put("my-python", PYTHON)
    (house.bin / "python3").unlink()
    assert house.curtail("bench", CURTAIL_PYTHON="my-python").out == "handed over:bench\n"


def test_what_the_tests_need_contains_what_the_server_needs() -> None:
    pins = {
        level: {
            line.split()[0]
            for line in (ROOT / "requirements" / f"{level}.txt").read_text().splitlines()
            if "==" in line and not line.lstrip().startswith(("#", "-"))
        }
        for level in ("base", "dev")
    }
    assert pins["base"] <= pins["dev"]
