"""What a controller remembers from one look to the next, and the figure that its card draws."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from pytest_django.fixtures import Settings

from collectors.formats.asked import State
from dashboard.api.techniques import FigureOut
from dashboard.fleet import jobs
from dashboard.models import Job, TechniqueDecision, TechniqueSetting
from dashboard.steering import controllers
from dashboard.steering.registered import registry
from dashboard.store.memory import MemoryStore
from techniques.model import (
    Axis,
    Bar,
    Cell,
    Decision,
    Evidence,
    Figure,
    FigureKind,
    Grid,
    Series,
    Shift,
)
from tests.dashboard.steered_job import World
from tests.factories import ANNOUNCEMENT, RUN_ID, START_MS
from tests.techniques.stepping import picture

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(transactional_db: None, memory_store: MemoryStore, settings: Settings) -> Iterator[World]:
    settings.TECHNIQUES = ("tests.techniques.stepping",)
    registry.cache_clear()
    jobs.record([ANNOUNCEMENT])
    yield World(Job.objects.get(), memory_store, technique="stepping")
    registry.cache_clear()


def look(world: World, times: int = 1) -> None:
    """Controllers are asked every five seconds."""
    for _ in range(times):
        world.pass_s(5)
        world.round()


def remembered(world: World) -> dict[str, Any]:
    found = TechniqueDecision.objects.first()
    assert found
    memory: dict[str, Any] = found.memory
    return memory


def test_a_controller_finds_again_what_it_remembered(world: World) -> None:
    world.switch("act")
    look(world, 3)

    assert remembered(world) == {"run": str(RUN_ID), "mode": "act", "looks": 3}
    # It has another reason each time, which is a decision too; the job is not asked anew for it.
    assert world.decided() == [{"word": "step"}] * 3
    assert world.setting.document_version == 2


def test_what_it_remembers_with_the_same_decision_is_written_into_that(world: World) -> None:
    world.switch("act")
    first, later = (
        Decision({"word": "step"}, "because", (Evidence("seen", str(at)),), {"at": at})
        for at in (1, 2)
    )
    assert controllers.keep(world.setting, first, START_MS)
    assert not controllers.keep(world.setting, later, START_MS + 5_000)

    [held] = TechniqueDecision.objects.all()
    assert (held.at_ms, held.memory) == (START_MS, {"at": 2})
    assert held.evidence == [{"name": "seen", "value": "2"}]
    assert world.setting.document_version == 2


def test_so_does_a_worker_that_was_started_again(world: World) -> None:
    world.switch("act")
    look(world, 2)
    world.restart_worker()
    registry.cache_clear()
    look(world)

    assert remembered(world)["looks"] == 3


def test_what_it_remembers_is_not_sent_to_the_job(world: World) -> None:
    world.switch("act")
    look(world)

    assert world.document.techniques["stepping"].settings == {"word": "step"}


def test_off_and_on_again_is_a_new_beginning(world: World) -> None:
    world.switch("act")
    look(world, 3)
    world.switch("off", version=1)
    look(world)
    world.switch("act", version=2)
    look(world)

    assert remembered(world)["looks"] == 1


def test_it_learns_that_the_job_was_started_again(world: World) -> None:
    world.switch("advise")
    look(world, 2)
    world.run_id = uuid4()
    look(world)

    assert remembered(world) == {"run": str(world.run_id), "mode": "advise", "looks": 1}


def test_it_learns_of_a_refusal_in_the_round_that_hears_of_it(world: World) -> None:
    world.switch("act")
    look(world)
    world.obey(State.REFUSED, "1: too many files")
    look(world)
    assert world.stand == ("refused", "1: too many files")
    assert remembered(world)["looks"] == 1

    world.obey(State.APPLIED)
    look(world)
    assert remembered(world)["looks"] == 2


def test_an_option_that_came_later_is_as_usual(world: World) -> None:
    world.switch("act")
    TechniqueSetting.objects.update(options={"gone": True})
    look(world)

    assert remembered(world)["looks"] == 1


def test_a_late_tick_does_not_skip_a_look(world: World) -> None:
    world.switch("act")
    for _ in range(6):
        world.pass_s(1.7)
        world.round()

    # At 1.7, 6.8 and so on: the first that comes five seconds after the one before.
    assert [each.at_ms - START_MS for each in TechniqueDecision.objects.order_by("at_ms")] == [
        1_700,
        6_800,
    ]


def test_a_card_has_the_figure_of_its_technique(world: World) -> None:
    before = world.looked_at()["figure"]
    assert (before["points"], before["mark"]) == ([], None)
    assert before["note"] == "It has not looked yet."

    world.switch("advise")
    look(world)
    drawn = world.looked_at()["figure"]
    assert (drawn["kind"], drawn["title"]) == ("points", "Looks")
    assert (drawn["x"], drawn["y"]["label"]) == ({"label": "look", "unit": ""}, "windows seen")
    assert [point["says"] for point in drawn["points"]] == ["look 1", "look 2"]
    assert drawn["mark"] == {"x": 2, "label": "last"}


@pytest.mark.parametrize("kind", [FigureKind.LINES, FigureKind.BARS])
def test_lines_and_bars_come_to_the_card_as_they_are(
    world: World, monkeypatch: pytest.MonkeyPatch, kind: FigureKind
) -> None:
    made = Figure(
        kind,
        "Looks",
        Axis("look"),
        Axis("took", "ms"),
        series=(Series("first", (1, 2), (10.5, 9.0)),),
        bars=(Bar("all of them", 19.5, "all took 19.5 ms"),),
    )
    monkeypatch.setattr(picture, "figure", lambda *_: made)

    drawn = FigureOut.model_validate(world.looked_at()["figure"]).model_dump()
    assert drawn["kind"] == kind
    assert drawn["series"] == [{"name": "first", "x": [1, 2], "y": [10.5, 9.0]}]
    assert drawn["bars"] == [{"label": "all of them", "value": 19.5, "says": "all took 19.5 ms"}]


def test_a_grid_comes_to_the_card_as_it_is_though_the_technique_is_off(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Grid(
        rows=("executor 1", "executor 2"),
        columns=("0", "1"),
        cells=(
            Cell(0, 0, 40.5, 0.25, "partition 0: 40.5 ms"),
            Cell(1, 1, 80.0, 1.0, "partition 1"),
        ),
        shifts=(Shift(1, 0, 1, "partition 1 moved", ago_s=12.5),),
        sizes="state",
    )
    drawn = Figure(FigureKind.GRID, "Places", Axis("partition"), Axis("task time", "ms"), grid=made)
    monkeypatch.setattr(picture, "figure", lambda *_: drawn)

    card = world.looked_at()
    assert card["mode"] == "off"
    told = FigureOut.model_validate(card["figure"]).model_dump()
    assert told["kind"] == "grid"
    assert told["grid"] == {
        "rows": ["executor 1", "executor 2"],
        "columns": ["0", "1"],
        "cells": [
            {"row": 0, "column": 0, "value": 40.5, "size": 0.25, "says": "partition 0: 40.5 ms"},
            {"row": 1, "column": 1, "value": 80.0, "size": 1.0, "says": "partition 1"},
        ],
        "shifts": [
            {"column": 1, "from_row": 0, "to_row": 1, "says": "partition 1 moved", "ago_s": 12.5}
        ],
        "sizes": "state",
    }


def test_a_figure_of_a_worker_that_knew_no_grids_is_still_shown(world: World) -> None:
    before = {name: told for name, told in world.looked_at()["figure"].items() if name != "grid"}

    assert FigureOut.model_validate(before).grid is None


def test_a_figure_that_cannot_be_drawn_takes_no_card_with_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ValueError("no pen")

    monkeypatch.setattr(picture, "figure", broken)

    assert world.looked_at()["figure"] is None
