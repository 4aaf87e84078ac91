"""The rule that says where a setting stands; `tests/frontend/test_standing.py` holds the page's to
the same cases."""

import json
from pathlib import Path
from typing import Any

import pytest

from collectors.formats.asked import Applied, Asked, State
from dashboard.live import asked_rows
from dashboard.models import TechniqueSetting
from dashboard.steering.status import status

CASES: list[dict[str, Any]] = json.loads(Path(__file__).with_name("status_cases.json").read_text())


def asked_of(told: dict[str, Any] | None) -> Asked | None:
    if told is None:
        return None
    techniques = tuple(
        Applied(name, each["mode"], State[each["state"].upper()], each["version"], each["because"])
        for name, each in told["techniques"].items()
    )
    return Asked(told["version"], told["settled"], techniques)


@pytest.mark.parametrize("case", CASES, ids=[case["case"] for case in CASES])
def test_a_setting_stands_where_the_jobs_newest_frame_says(case: dict[str, Any]) -> None:
    setting = TechniqueSetting(
        technique="echo", mode=case["mode"], document_version=case["document_version"]
    )
    found = status(setting, asked_of(case["asked"]), is_running=True)

    assert (str(found.stand), found.because) == (case["state"], case["because"])


@pytest.mark.parametrize("case", CASES, ids=[case["case"] for case in CASES])
def test_pages_get_what_the_frame_says(case: dict[str, Any]) -> None:
    assert asked_rows.row(asked_of(case["asked"])) == case["asked"]


@pytest.mark.parametrize(("mode", "stand"), [("act", "asked"), ("off", "off")])
def test_a_job_that_does_not_run_answers_nothing(mode: str, stand: str) -> None:
    found = status(TechniqueSetting(technique="echo", mode=mode), None, is_running=False)

    assert (str(found.stand), found.because) == (stand, "the job is not running")
