"""Wrong usage of `curtail analyze` is told in one line, before anything starts."""

import pytest

from dashboard.cli.analyze import run


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--from", "yesterday"], "'yesterday' is no time; write 2026-11-01"),
        (["--from", "now", "--to", "7d ago"], "--from now is not before --to 7d ago"),
    ],
)
def test_times_that_make_no_range_are_refused(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(words) == 2
    assert told in capsys.readouterr().err


def test_without_an_archive_it_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CURTAIL_ARCHIVE", "off")

    assert run([]) == 2
    assert "CURTAIL_ARCHIVE is off" in capsys.readouterr().err
