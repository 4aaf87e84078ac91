import json
from pathlib import Path

from dashboard.cli import second_try
from dashboard.cli.test import counted, environ, quick_jvms

REPORT = """<?xml version="1.0"?><testsuites><testsuite name="pytest" errors="1" failures="2"
skipped="{skipped}" tests="20"></testsuite></testsuites>"""


def test_the_last_line_counts_what_passed_and_failed(tmp_path: Path) -> None:
    tally = tmp_path / "junit.xml"
    tally.write_text(REPORT.format(skipped=0))
    assert counted(tally) == "17 passed, 3 failed"


def test_what_ran_in_two_halves_is_counted_as_one(tmp_path: Path) -> None:
    halves = [tmp_path / "one.xml", tmp_path / "other.xml"]
    for half in halves:
        half.write_text(REPORT.format(skipped=0))
    assert counted(*halves) == "34 passed, 6 failed"
    assert counted(*halves, tmp_path / "missing.xml").startswith("0 passed, 1 failed")


def test_what_was_skipped_is_said(tmp_path: Path) -> None:
    tally = tmp_path / "junit.xml"
    tally.write_text(REPORT.format(skipped=4))
    assert counted(tally) == "13 passed, 3 failed, 4 skipped"


def test_a_run_that_did_not_finish_counts_as_failed(tmp_path: Path) -> None:
    assert counted(tmp_path / "junit.xml").startswith("0 passed, 1 failed")


def test_tests_never_see_the_users_redis_or_database(tmp_path: Path) -> None:
    theirs = {"REDIS_URL": "redis://prod", "DATABASE_URL": "postgres://prod", "PATH": "/bin"}
    given = environ(theirs, tmp_path)
    assert "REDIS_URL" not in given
    assert "DATABASE_URL" not in given
    assert given["PATH"] == "/bin"
    assert given["CURTAIL_DATA_DIR"] == str(tmp_path)


def test_jvms_that_a_test_measures_compile_as_a_users_do() -> None:
    archive = Path("/somewhere/spark.jsa")
    assert "TieredStopAtLevel" in quick_jvms(archive, measured=False)["JDK_JAVA_OPTIONS"]
    assert "TieredStopAtLevel" not in quick_jvms(archive, measured=True)["JDK_JAVA_OPTIONS"]
    assert str(archive) in quick_jvms(archive, measured=True)["JDK_JAVA_OPTIONS"]


def test_without_an_archive_jvms_start_as_ever() -> None:
    assert quick_jvms(None, measured=True) == {}


def remembers(folder: Path, *ids: str) -> Path:
    """What pytest leaves in its cache."""
    path = folder / "v" / "cache" / "lastfailed"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(dict.fromkeys(ids, True)))
    return folder


def test_what_failed_in_either_half_is_run_again_with_its_whole_file(tmp_path: Path) -> None:
    halves = [
        remembers(tmp_path / "one", "tests/b.py::two", "tests/b.py::one[x::y]"),
        remembers(tmp_path / "other", "tests/a.py::one"),
        tmp_path / "nothing failed here",
    ]
    ids = second_try.failed(halves)
    assert ids == ["tests/a.py::one", "tests/b.py::one[x::y]", "tests/b.py::two"]
    assert second_try.files(ids) == ["tests/a.py", "tests/b.py"]


def test_a_few_failures_get_a_second_try_and_many_do_not() -> None:
    ids = [f"tests/{number}.py::one" for number in range(second_try.MOST_FILES + 1)]
    assert second_try.is_worth_it([1, 0], ids[:-1])
    assert not second_try.is_worth_it([1, 0], ids)
    assert not second_try.is_worth_it([0, 0], [])


def test_a_run_that_was_torn_off_gets_no_second_try() -> None:
    internal_error, nothing_collected = 3, 5
    for code in (internal_error, nothing_collected, -9):
        assert not second_try.is_worth_it([1, code], ["tests/a.py::one"])


def test_after_a_second_try_what_still_fails_is_counted(tmp_path: Path) -> None:
    tally = tmp_path / "junit.xml"
    tally.write_text(REPORT.format(skipped=0))
    assert counted(tally, still_failing=0) == "20 passed, 0 failed"
    assert counted(tally, still_failing=1) == "19 passed, 1 failed"
