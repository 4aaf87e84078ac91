"""How large a ring is, and where it goes where shared memory is small."""

import logging
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from techniques.pool.osrbuffer import sizing
from techniques.pool.osrbuffer.ring import Ring


class Usage(NamedTuple):
    free: int


FreeBytes = Callable[[dict[str, int]], None]


@pytest.fixture
def free_bytes(monkeypatch: pytest.MonkeyPatch) -> FreeBytes:
    def set_to(free: dict[str, int]) -> None:
        monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(free[path]))

    return set_to


@pytest.mark.parametrize("message_bytes", [0, 1, 256, 10_000, 40_000, 320_000, 5_000_000])
def test_a_ring_holds_50_to_100_messages_of_the_size_it_was_made_for(
    tmp_path: Path, message_bytes: int
) -> None:
    if message_bytes > 1_000_000:
        tmp_path = Path("/dev/shm")
    path = tmp_path / f"curtail-test-room-{message_bytes}"
    ring = Ring.create(str(path), sizing.capacity_bytes(message_bytes))
    try:
        sent = 0
        while ring.send(bytes(message_bytes), timeout_s=0):
            sent += 1
        assert 50 <= sent <= 100
    finally:
        ring.unlink()
        ring.close()


def test_shared_memory_is_taken_where_it_has_room(free_bytes: FreeBytes) -> None:
    free_bytes({"/dev/shm": 64_000_000})
    assert sizing.folder(20_000_000, ["/local"]) == "/dev/shm"


def test_where_shared_memory_is_small_a_local_folder_is_taken_and_said(
    tmp_path: Path, free_bytes: FreeBytes, caplog: pytest.LogCaptureFixture
) -> None:
    small, large = tmp_path / "small", tmp_path / "large"
    small.mkdir()
    large.mkdir()
    free_bytes({"/dev/shm": 64_000_000, str(small): 50_000_000, str(large): 10**9})
    assert sizing.folder(60_000_000, [str(small), str(large)]) == str(large)
    assert "/dev/shm has 64.0 MB free and 60.0 MB are wanted" in caplog.text
    assert caplog.records[0].levelno == logging.WARNING


def test_without_room_anywhere_the_error_names_the_places(free_bytes: FreeBytes) -> None:
    free_bytes({"/dev/shm": 1_000_000})
    with pytest.raises(OSError, match=r"10\.0 MB in any of /dev/shm, /nowhere"):
        sizing.folder(10_000_000, ["/nowhere"])


def test_a_ring_that_does_not_fit_fails_when_made_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"."):
        Ring.create(str(tmp_path / "ring"), 2**50)
    assert list(tmp_path.iterdir()) == []
