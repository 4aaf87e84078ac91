import json
from typing import Any

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from dashboard.analysis import analyses
from dashboard.analysis.switches import switches
from dashboard.models import Analysis, AuditEntry, Role
from tests.dashboard.users import logged_in, person

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("memory_store")]

ANALYSES = "/api/v1/analyses"
WEEK = {"start_ms": 1_000_000, "end_ms": 2_000_000}


@pytest.fixture
def api() -> Client:
    return logged_in(person("eve", Role.OPERATOR))


def ask(api: Client, **body: Any) -> Any:
    return api.post(ANALYSES, json.dumps({**WEEK, **body}), content_type="application/json")


def test_an_analysis_that_is_asked_for_waits_is_audited_and_goes_to_a_worker(
    api: Client, errands: list[tuple[Any, ...]]
) -> None:
    answer = ask(api, jobs=["shop.orders"])

    assert answer.status_code == 202
    told = answer.json()
    assert (told["state"], told["asked_by"], told["jobs"]) == ("waiting", "eve", ["shop.orders"])
    assert errands == [("dashboard.tasks.run_analysis", told["id"])]
    entry = AuditEntry.objects.get(action="analysis.asked")
    assert (entry.who, entry.after) == ("eve", {**WEEK, "jobs": ["shop.orders"]})


def test_only_one_runs_at_a_time(api: Client, errands: list[tuple[Any, ...]]) -> None:
    first = ask(api).json()

    refused = ask(api)

    assert refused.status_code == 409
    assert refused.json()["current"]["id"] == first["id"]
    assert len(errands) == 1


def test_one_whose_process_was_killed_is_told_as_failed_and_does_not_stop_the_next(
    api: Client,
) -> None:
    first = ask(api).json()["id"]
    analyses.begin(first)
    silent_ms = analyses.now_ms() - analyses.SILENT_MS - 1_000
    Analysis.objects.filter(pk=first).update(beat_ms=silent_ms)

    assert ask(api).status_code == 202
    told = api.get(f"{ANALYSES}/{first}").json()
    assert (told["state"], told["because"]) == ("failed", analyses.KILLED)


def test_progress_and_report_are_told_and_a_list_has_no_reports(api: Client) -> None:
    number = ask(api).json()["id"]
    assert analyses.begin(number) is not None
    analyses.progress(number, 3, 20)
    told = api.get(f"{ANALYSES}/{number}").json()
    assert (told["state"], told["done"], told["total"], told["report"]) == ("running", 3, 20, None)

    analyses.finish(number, {"version": 1})

    assert api.get(f"{ANALYSES}/{number}").json()["report"] == {"version": 1}
    (listed,) = api.get(ANALYSES).json()["items"]
    assert listed["state"] == "done"
    assert "report" not in listed


def test_an_analysis_is_run_once(api: Client) -> None:
    number = ask(api).json()["id"]

    assert analyses.begin(number) is not None
    assert analyses.begin(number) is None


@pytest.mark.parametrize(
    "body",
    [
        {"end_ms": 1_000_000},
        {"start_ms": -1},
        {"end_ms": 1_000_000 + 401 * 86_400_000},
        {"jobs": [""]},
        {"start_ms": "yesterday"},
    ],
)
def test_what_cannot_be_analysed_is_refused(
    api: Client, body: dict[str, Any], errands: list[tuple[Any, ...]]
) -> None:
    assert ask(api, **body).status_code == 400
    assert errands == []


def test_without_an_archive_there_is_nothing_to_analyse(api: Client, settings: Settings) -> None:
    settings.ARCHIVE = None

    assert ask(api).status_code == 400


def test_a_viewer_reads_and_does_not_ask() -> None:
    viewer = logged_in(person("vic", Role.VIEWER))

    assert ask(viewer).status_code == 403
    assert viewer.get(ANALYSES).status_code == 200
    assert viewer.get(f"{ANALYSES}/77").status_code == 404
    assert viewer.get("/analysis").status_code == 200
    assert viewer.get("/analysis/77").status_code == 404


def test_switches_come_from_the_audit_and_changed_options_are_none() -> None:
    for at_ms, before, after in ((10, "off", "act"), (20, "act", "act"), (30, "act", "off")):
        AuditEntry.objects.create(
            at_ms=at_ms,
            who="eve",
            action="technique.switched",
            subject="shadowsync",
            job="shop.orders",
            before={"mode": before},
            after={"mode": after},
        )

    found = switches(["shop.orders", "other"], 0, 100)

    told = [(each.technique, each.at_ms, each.to) for each in found["shop.orders"]]
    assert told == [("shadowsync", 10, "act"), ("shadowsync", 30, "off")]
    assert switches(["shop.orders"], 11, 30) == {}
