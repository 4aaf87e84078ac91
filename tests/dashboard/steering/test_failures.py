"""What one job or one technique throws is kept to it."""

from typing import Any

import pytest

from collectors.formats import control, keys, wire
from dashboard.fleet import jobs
from dashboard.models import Job
from dashboard.steering import switches
from dashboard.steering.switches import Switch
from dashboard.worker.histories import Histories
from dashboard.worker.job_leases import Leases
from techniques.model import Decision, Mode, Options, Past
from techniques.view import View
from tests.dashboard.steered_job import JOB, World
from tests.factories import announcement, frame
from tests.techniques.echo import controller

pytestmark = pytest.mark.django_db(transaction=True)

OTHER = "orders.other"


@pytest.fixture
def two(world: World) -> World:
    """Of two jobs the same is asked, and both send windows; a round has passed."""
    jobs.record([announcement(job_id=OTHER, query="other")])
    for job in Job.objects.all():
        switches.switch(job, "echo", Switch(Mode.ACT, {}, "", 0), "olga", world.now_ms)
    world.pass_s(1)
    for at in range(20):
        sent = frame(at, (100,))
        world.store.append(keys.frames(OTHER), sent.start_ms, wire.encode(sent))
    return world


def renewed_ms(world: World, job_id: str) -> int:
    return control.decode(world.store.controls[job_id]).renewed_ms


def breaks(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def broken(view: View, options: Options, past: Past) -> Decision | None:
        raise error

    monkeypatch.setattr(controller, "decide", broken)


def test_a_controller_that_throws_keeps_no_document_from_being_renewed(
    two: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    breaks(monkeypatch, ValueError("no idea"))
    two.round()

    assert renewed_ms(two, JOB) == renewed_ms(two, OTHER) == two.now_ms
    assert two.steering.failures.count(JOB) == two.steering.failures.count(OTHER) == 1


def test_what_cannot_be_written_down_is_a_failure_like_any_other(
    two: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(controller, "decide", lambda *_: Decision({"word": object()}, "so"))  # type: ignore[dict-item]
    two.round()

    assert renewed_ms(two, OTHER) == two.now_ms
    assert two.steering.failures.count(JOB) == 1


def test_a_job_whose_history_throws_stops_no_other(
    two: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = Histories.newest

    def broken(histories: Histories, job_id: str) -> Any:
        if job_id == JOB:
            raise OverflowError("2**64")
        return seen(histories, job_id)

    monkeypatch.setattr(Histories, "newest", broken)
    two.round()

    assert renewed_ms(two, JOB) == renewed_ms(two, OTHER) == two.now_ms
    assert control.decode(two.store.controls[OTHER]).techniques["echo"].mode == "act"
    assert two.steering.failures.count(OTHER) == 0


def test_the_failure_is_on_the_card_until_a_round_without_one(
    two: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        breaks(patched, ValueError("no idea"))
        two.round()
        assert two.card()["failure"] == "ValueError: no idea"
    assert two.looked_at()["failure"] == ""


def test_another_workers_job_is_left_alone(two: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Leases, "holds", lambda leases, job_id: job_id == JOB)
    two.store.controls.clear()
    two.round()

    assert set(two.store.controls) == {JOB}
