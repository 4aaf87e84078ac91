import asyncio
from pathlib import Path

import pytest

from dashboard.cli import child
from dashboard.cli.child import CannotStart, Child, Program


def program(command: str, log: Path | None = None) -> Program:
    return Program("it", ("/bin/sh", "-c", command), {"PATH": "/usr/bin:/bin"}, log)


async def test_its_output_goes_to_its_log(tmp_path: Path) -> None:
    log = tmp_path / "it.log"
    it = await Child.spawn(program("echo out; echo err >&2", log))
    assert await it.wait() == 0
    assert log.read_text() == "out\nerr\n"
    assert it.last_lines == ["out", "err"]


async def test_without_a_log_every_line_is_marked_with_its_name(
    capsys: pytest.CaptureFixture[str],
) -> None:
    it = await Child.spawn(program("echo hello; echo again"))
    await it.wait()
    assert capsys.readouterr().out == "it      hello\nit      again\n"


async def test_a_log_stays_within_twice_its_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child, "LOG_MAX_BYTES", 1_000)
    it = await Child.spawn(program("seq 1 5000", tmp_path / "it.log"))
    await it.wait()
    newer, older = tmp_path / "it.log", tmp_path / "it.log.1"
    assert newer.stat().st_size <= older.stat().st_size <= 1_010
    assert newer.read_text().endswith("5000\n")


async def test_a_line_without_an_end_does_not_grow_without_bound(tmp_path: Path) -> None:
    it = await Child.spawn(program("head -c 3000000 /dev/zero | tr '\\0' x", tmp_path / "it.log"))
    await it.wait()
    assert max(map(len, it.last_lines)) <= child.LINE_MAX_BYTES


async def test_a_grandchild_that_keeps_the_pipe_open_does_not_hide_a_death(tmp_path: Path) -> None:
    it = await Child.spawn(program("sleep 600 & echo bye; exit 3", tmp_path / "it.log"))
    async with asyncio.timeout(60):
        assert await it.wait() == 3
        assert it.last_lines == ["bye"]
        await it.end(grace_s=30, hurry=asyncio.Event())


async def test_a_program_that_is_not_there_is_named() -> None:
    with pytest.raises(CannotStart, match="redis: cannot start no-such-redis: No such file"):
        await Child.spawn(Program("redis", ("no-such-redis",), {}))
