import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from django.core.management import get_commands

from dashboard import environment
from dashboard.cli import programs
from dashboard.cli.root import ROOT
from tests.docker import composed

OURS = ("migrate", "server", "worker", "beat")
SCHEMA = json.loads((Path(__file__).parent / "compose.schema.json").read_text())


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    return composed.interpolated(composed.filled_in())


def test_it_follows_the_compose_specification(compose: dict[str, Any]) -> None:
    jsonschema.validate(compose, SCHEMA, cls=jsonschema.Draft202012Validator)


@pytest.mark.parametrize(
    "fault",
    [
        {"services": {"x": {"image": "x", "comand": ["x"]}}},
        {"services": {"x": {"image": "x", "depends_on": {"y": {"condition": "healthy"}}}}},
        {"services": {"x": {"image": "x", "healthcheck": {"test": ["true"]}}}},
        {"services": {"x": {"image": "x", "healthcheck": {"test": ["CMD", "x"], "interval": "5"}}}},
        {"services": {"x": {"command": ["x"]}}},
        {"service": {}},
    ],
)
def test_the_schema_finds_a_fault(fault: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(fault, SCHEMA, cls=jsonschema.Draft202012Validator)


def test_docker_reads_it_as_we_do(compose: dict[str, Any], tmp_path: Path) -> None:
    """Where there is no `docker compose`, our own reading has to stand alone: it must be whole."""
    if not composed.has_compose():
        assert "${" not in json.dumps(compose)
        return
    theirs = composed.by_docker(tmp_path)
    assert theirs["services"].keys() == compose["services"].keys()
    for name, service in compose["services"].items():
        for key in ("command", "environment"):
            assert theirs["services"][name].get(key) == service.get(key)


def test_it_has_every_service(compose: dict[str, Any]) -> None:
    assert compose["services"].keys() == {"redis", "postgres", *OURS}


def test_who_waits_for_health_waits_for_somebody_who_can_show_it(compose: dict[str, Any]) -> None:
    services = compose["services"]
    for service in services.values():
        for name, wait in service.get("depends_on", {}).items():
            if wait["condition"] == "service_healthy":
                assert "healthcheck" in services[name]
            if wait["condition"] == "service_completed_successfully":
                assert services[name]["restart"] in ("no", "on-failure")


def test_every_lasting_service_shows_its_health(compose: dict[str, Any]) -> None:
    without = {name for name, one in compose["services"].items() if "healthcheck" not in one}
    assert without == {"migrate"}


def test_every_volume_is_declared(compose: dict[str, Any]) -> None:
    used = {
        volume.partition(":")[0]
        for service in compose["services"].values()
        for volume in service.get("volumes", [])
    }
    assert used == compose["volumes"].keys()


def test_nothing_is_published_beyond_this_host_unless_asked(compose: dict[str, Any]) -> None:
    ports = [port for one in compose["services"].values() for port in one.get("ports", [])]
    assert len(ports) == 2
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_every_variable_is_in_the_example_and_every_one_there_is_used() -> None:
    assert composed.references().keys() == composed.example().keys()


def test_every_variable_of_the_example_has_a_comment() -> None:
    blocks = composed.EXAMPLE.read_text().strip().split("\n\n")[1:]
    assert len(blocks) == len(composed.example())
    assert all(block.startswith("# ") for block in blocks)


def test_the_example_shows_the_defaults_and_leaves_secrets_empty() -> None:
    for name, uses in composed.references().items():
        assert len({how for how, _ in uses}) == 1
        for how, rest in uses:
            assert composed.example()[name] == (rest if how == ":-" else "")


def test_a_missing_secret_stops_it() -> None:
    for name in composed.required():
        with pytest.raises(AssertionError, match=f"{name}: set it in .env"):
            composed.interpolated({**composed.filled_in(), name: ""})


@pytest.mark.parametrize("service", OURS)
def test_the_server_side_understands_its_environment(compose: dict[str, Any], service: str) -> None:
    given = compose["services"][service]["environment"]
    read_by_us = set(re.findall(r'environ\.get\("(\w+)"', Path(environment.__file__).read_text()))
    assert given.keys() <= read_by_us
    found = environment.read({name: str(value) for name, value in given.items()})
    assert found.database["ENGINE"] == "django.db.backends.postgresql"
    assert found.database["PASSWORD"] == composed.SECRET
    assert f":{composed.SECRET}@redis:" in found.redis_url
    assert "127.0.0.1" in found.allowed_hosts  # by which its health is asked


def test_the_image_of_postgres_gets_what_it_reads(compose: dict[str, Any]) -> None:
    given = compose["services"]["postgres"]["environment"]
    assert given.keys() == {"POSTGRES_USER", "POSTGRES_DB", "POSTGRES_PASSWORD"}
    url = compose["services"]["server"]["environment"]["DATABASE_URL"]
    user, name = given["POSTGRES_USER"], given["POSTGRES_DB"]
    assert url == f"postgres://{user}:{composed.SECRET}@postgres:5432/{name}"


def test_the_server_is_the_one_that_up_starts(compose: dict[str, Any]) -> None:
    up = programs.server({}, "0.0.0.0", 8000).argv
    assert compose["services"]["server"]["command"] == ["python", *up[1:]]


def test_worker_and_beat_together_are_the_worker_that_up_starts(compose: dict[str, Any]) -> None:
    up = ["python", *programs.worker({}, Path("/var/lib/curtail")).argv[1:]]
    schedule = ["-s", "/var/lib/curtail/beat"]
    worker = compose["services"]["worker"]["command"]
    beat = compose["services"]["beat"]["command"]
    at = up.index("-B")
    assert worker == [*up[:at], *up[at + 3 :]]
    assert up[at : at + 3] == ["-B", *schedule]
    assert beat == [*up[: up.index("worker")], "beat", *schedule, *up[-2:]]


def test_every_module_and_management_command_it_runs_exists(compose: dict[str, Any]) -> None:
    words = [word for name in OURS for word in compose["services"][name]["command"]]
    text = " ".join(words)
    modules = set(re.findall(r"python -m (\w+)", text)) | set(re.findall(r"dashboard\.\w+", text))
    assert modules == {"django", "uvicorn", "celery", "dashboard.asgi", "dashboard.celery_app"}
    assert [name for name in modules if importlib.util.find_spec(name) is None] == []
    commands = re.findall(r"-m django (\w+)", text)
    assert commands == ["migrate", "ensure_operator"]
    assert set(commands) <= get_commands().keys()


def test_it_builds_from_the_repository(compose: dict[str, Any]) -> None:
    for name in OURS:
        build = compose["services"][name]["build"]
        context = (composed.DOCKER / build["context"]).resolve()
        assert context == ROOT
        assert (context / build["dockerfile"]).is_file()
