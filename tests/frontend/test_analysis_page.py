"""The analysis page on a real server: a click runs Spark over an archive and draws its report."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from dashboard.history.archive import Archive, Place
from dashboard.testing.generated_week import Week
from dashboard.testing.stack import Stack, stack
from tests.frontend.modules import run

PATIENCE_MS = 400_000
WEEK = Week(jobs=6)

pytestmark = [pytest.mark.browser, pytest.mark.spark, pytest.mark.own_jvm]


@pytest.fixture(scope="module")
def archived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    folder: Path = tmp_path_factory.mktemp("archive")
    WEEK.write(Archive(Place(str(folder))))
    with stack(CURTAIL_ARCHIVE=str(folder)) as started:
        yield started


def test_a_click_analyses_the_archive_and_the_page_shows_what_was_planted(
    archived: Stack, page: Page
) -> None:
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{archived.url}/analysis")
    page.get_by_label("User").fill(archived.username)
    page.get_by_label("Password").fill(archived.password)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_text("None yet.")).to_be_visible()

    page.get_by_role("button", name="UTC").click()
    page.get_by_label("From (UTC)").fill("2026-11-02T00:00:00")
    page.get_by_label("To (UTC)").fill("2026-11-09T00:00:00")
    page.get_by_role("button", name="Analyse").click()

    expect(page.locator("[data-progress]")).to_be_visible()
    expect(page.locator("[data-standing]")).to_have_text(
        f"{WEEK.jobs} jobs, asked by {archived.username}", timeout=PATIENCE_MS
    )
    expect(page.locator("[data-progress]")).to_be_hidden()
    changed = page.locator("[data-changes] figcaption")
    expect(changed).to_have_count(1)
    expect(changed).to_contain_text(WEEK.job_id(WEEK.changing))
    expect(changed).to_contain_text("since 6 Nov 2026, 10:00:00")
    expect(changed).to_contain_text("with release")
    expect(page.locator("[data-changes] .main-svg").first).to_be_visible()
    pair = page.locator("[data-together-rows] tr")
    expect(pair).to_have_count(1)
    one, other = (WEEK.job_id(at) for at in WEEK.stalling)
    expect(pair).to_contain_text(f"{one} and {other}")
    link = pair.get_by_role("link", name=one).first.get_attribute("href")
    assert link is not None
    assert f"/jobs/{one}?from=" in link
    assert errors == []

    page.goto(f"{archived.url}/analysis")
    expect(page.locator("[data-rows] tr")).to_contain_text("done")


def test_pictures_escape_what_a_jobs_name_may_hold(blank: Page) -> None:
    row = {
        "job": "<b>shop</b>",
        "kind": "gc_shadow",
        "added_ms": 80,
        "low_ms": None,
        "high_ms": None,
        "records": 10,
        "seconds": 4,
    }
    source = "return m.addedFigure(given, {font: 'x'}, 900, (kind) => kind)"

    figure = run(blank, "analysis/figures", source, [row])

    texts = [each["text"] for each in figure["layout"]["annotations"]]
    assert texts == ["gc_shadow · &lt;b>shop&lt;/b>"]
    assert figure["data"][0]["error_x"]["array"] == [0]


def test_a_month_has_as_many_day_marks_as_there_is_room(blank: Page) -> None:
    day_ms = 86_400_000
    source = "return m.dayMarks(0, given[0], given[1])"

    wide = run(blank, "analysis/figures", source, [30 * day_ms, 1_200])
    narrow = run(blank, "analysis/figures", source, [30 * day_ms, 360])

    assert 2 <= len(narrow) < len(wide) <= 14
    assert all(mark % day_ms == 0 for mark in wide + narrow)
