"""What executors of the user's cluster import: our zip, without Django and without PySpark."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from collectors.formats.keys import frames
from dashboard.history.archive import Archive, Place
from dashboard.history.group import grouped
from dashboard.history.spark import code_archive
from dashboard.testing.stack import RedisServer
from tests.dashboard.history.streamed import assert_archived_once, fill

JOBS = ("orders.scored", "traffic.ranking")

# An executor has the zip and the packages that docs/history.md names; neither our folder nor these.
TASK = """
import sys
for name in ("django", "celery", "channels", "ninja", "pyspark"):
    sys.modules[name] = None
url, folder, *job_ids = sys.argv[1:]
from dashboard.history.archive import Place
from dashboard.history.group import archive_group
import dashboard.history
assert ".zip" in dashboard.history.__file__, dashboard.history.__file__
told = archive_group(url, Place(folder), job_ids)
assert told.well, told.line()
print(told.entries)
"""


def test_a_task_runs_from_the_zip_alone(redis: RedisServer, tmp_path: Path) -> None:
    fill(redis.url, JOBS, 60)
    code = code_archive.write(tmp_path / "curtail.zip")
    folder = tmp_path / "archive"
    done = subprocess.run(
        [sys.executable, "-c", TASK, redis.url, str(folder), *JOBS],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(code), "DJANGO_SETTINGS_MODULE": "no.such.settings"},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (0, "160\n"), done.stderr
    assert_archived_once(redis.url, Place(str(folder)), JOBS)
    assert Archive(Place(str(folder))).span_ms(frames(JOBS[0])) is not None


@pytest.mark.parametrize(
    ("jobs", "groups", "sizes"), [(0, 4, []), (3, 4, [1, 1, 1]), (9, 2, [5, 4])]
)
def test_jobs_are_dealt_out_evenly(jobs: int, groups: int, sizes: list[int]) -> None:
    names = [f"job.{number}" for number in range(jobs)]
    dealt = grouped(names, groups)
    assert [len(group) for group in dealt] == sizes
    assert sorted(name for group in dealt for name in group) == names
