"""From a switch to what the job says, with the worker's rounds and the clock by hand."""

import pytest
from pytest_django.fixtures import Settings

from collectors.formats.asked import State
from dashboard.alerts.events import Event
from dashboard.fleet import job_list, job_summary
from dashboard.models import AlertEvent, AuditEntry, TechniqueDecision
from dashboard.steering import documents
from dashboard.steering.registered import registry
from dashboard.steering.switches import Outdated
from techniques.options import OptionFault
from tests.dashboard.alerts.made import endpoint
from tests.dashboard.steered_job import World

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_switch_is_written_for_the_job_with_its_first_decision(world: World) -> None:
    world.switch("act", word="goodbye")
    world.pass_s(1)
    world.round()

    wanted = world.document.techniques["echo"]
    assert (wanted.mode, wanted.settings["word"], wanted.lease_ms) == ("act", "goodbye", 5_000)
    assert wanted.version == world.document.version
    assert world.decided() == [{"word": "goodbye", "refuse": False, "times": 1}]


def test_one_job_is_steered_without_a_round(world: World) -> None:
    world.switch("act")
    world.pass_s(1)
    world.steering.job(world.store, world.job.pk, world.now_ms)

    assert world.document.techniques["echo"].mode == "act"
    world.obey()
    world.pass_s(1)
    world.steering.job(world.store, world.job.pk, world.now_ms)
    assert world.stand == ("applied", "")


def test_it_is_asked_until_the_job_says_that_it_holds(world: World) -> None:
    world.switch("act")
    world.pass_s(1)
    world.round()
    assert world.stand == ("asked", "the job has not heard of it yet")

    world.obey(State.ASKED, "waiting for 2")
    world.pass_s(1)
    world.round()
    assert world.stand == ("asked", "waiting for 2")

    world.obey(State.APPLIED)
    world.pass_s(1)
    world.round()
    assert world.stand == ("applied", "")
    assert world.setting.applied_ms == world.now_ms


def test_a_refusal_comes_with_its_reason(world: World) -> None:
    world.switch("act")
    world.pass_s(1)
    world.round()
    world.obey(State.REFUSED, "1: no RocksDB here")
    world.pass_s(1)
    world.round()

    assert world.stand == ("refused", "1: no RocksDB here")


def test_others_are_told_once_when_it_is_applied_or_refused(world: World) -> None:
    endpoint(job=world.job.pk)
    world.switch("act")
    for state in (State.ASKED, State.REFUSED, State.REFUSED, State.APPLIED, State.APPLIED):
        world.pass_s(1)
        world.round()
        world.obey(state, "1: no RocksDB here" if state == State.REFUSED else "")
    world.pass_s(1)
    world.round()

    refused, applied = [Event.of(each.event) for each in AlertEvent.objects.all()]
    assert (refused.type, refused.severity) == ("technique.refused", "warning")
    assert (refused.kind, refused.explanation) == ("echo", "1: no RocksDB here")
    assert (applied.type, applied.severity) == ("technique.applied", "info")
    assert applied.subject == refused.subject
    assert applied.evidence["asked_by"] == "olga"


def test_off_is_off_when_everybody_let_go(world: World) -> None:
    world.switch("act")
    world.pass_s(1)
    world.round()
    world.obey()
    world.pass_s(1)
    world.round()
    world.switch("off", version=1)
    world.pass_s(1)
    world.round()
    assert world.stand[0] == "asked"
    assert world.document.techniques == {}

    world.obey()
    world.pass_s(1)
    world.round()
    assert world.stand == ("off", "")


def test_what_is_asked_is_renewed_every_round(world: World) -> None:
    world.switch("act")
    for _ in range(3):
        world.pass_s(1)
        world.round()
        assert world.document.renewed_ms == world.now_ms


def test_what_is_off_and_known_to_be_off_costs_nothing(world: World) -> None:
    world.switch("off")
    world.round()  # no frame: the job does not run, so it is off
    world.store.controls.clear()
    world.pass_s(1)
    world.round()

    assert world.store.controls == {}


def test_advice_is_decided_and_shown_and_not_acted_on(world: World) -> None:
    world.switch("advise")
    world.pass_s(1)
    world.round()
    world.obey()
    world.pass_s(1)
    world.round()

    assert world.document.techniques["echo"].mode == "advise"
    assert world.decided()
    assert world.stand == ("applied", "")


def test_advice_that_an_operator_agrees_to_is_acted_on_at_once(world: World) -> None:
    world.switch("advise", word="goodbye")
    world.pass_s(1)
    world.round()
    world.switch("act", version=1, word="goodbye")

    wanted = documents.document(world.job.pk, world.now_ms).techniques["echo"]
    assert (wanted.mode, wanted.settings["word"]) == ("act", "goodbye")


def test_advice_on_other_terms_is_not(world: World) -> None:
    world.switch("advise", word="goodbye")
    world.pass_s(1)
    world.round()
    world.pass_s(1)
    world.switch("act", version=1, word="hello")

    assert documents.document(world.job.pk, world.now_ms).techniques["echo"].mode == "advise"


def test_the_same_decision_is_written_once(world: World) -> None:
    world.switch("act")
    for _ in range(12):
        world.pass_s(1)
        world.round()

    assert TechniqueDecision.objects.count() == 1


def test_an_operator_who_looked_before_a_change_is_told(world: World) -> None:
    world.switch("act", version=0)

    with pytest.raises(Outdated):
        world.switch("off", version=0, who="otto")
    assert world.setting.mode == "act"


def test_the_list_of_jobs_says_what_is_asked_and_where_it_stands(world: World) -> None:
    world.switch("act")
    (member,) = job_list.read(world.now_ms)

    assert job_summary.as_dict(member, None, world.now_ms)["techniques"] == [
        {"name": "echo", "title": "Echo", "mode": "act", "state": "asked"}
    ]
    world.switch("off", version=1)
    (member,) = job_list.read(world.now_ms)
    assert job_summary.as_dict(member, None, world.now_ms)["techniques"] == []


def test_every_switch_is_audited_with_who_what_and_why(world: World) -> None:
    world.switch("advise")
    world.switch("act", version=1, who="otto", word="goodbye")

    second, first = AuditEntry.objects.order_by("-pk")
    assert (first.who, first.action, first.subject, first.job) == (
        "olga",
        "technique.switched",
        "echo",
        world.job.pk,
    )
    defaults = {"word": "hello", "refuse": False, "times": 1}
    assert first.before == {"mode": "off", "options": {}}
    assert first.after == {"mode": "advise", "options": defaults}
    assert (second.who, second.reason) == ("otto", "because")
    assert second.before == first.after
    assert second.after == {"mode": "act", "options": {**defaults, "word": "goodbye"}}


def test_an_option_out_of_bounds_changes_nothing(world: World) -> None:
    with pytest.raises(OptionFault):
        world.switch("act", times=9)

    assert not AuditEntry.objects.exists()


def test_a_job_that_does_not_run_keeps_what_is_asked(world: World) -> None:
    world.switch("act")
    world.silence_s(60)
    world.round()
    assert world.stand == ("asked", "the job is not running")
    assert "echo" in world.document.techniques

    world.pass_s(1)
    world.round()
    world.obey()
    world.pass_s(1)
    world.round()
    assert world.stand == ("applied", "")


def test_a_technique_that_this_server_no_longer_has_is_no_longer_asked_for(
    world: World, settings: Settings
) -> None:
    world.switch("act")
    world.pass_s(1)
    world.round()
    assert "echo" in world.document.techniques

    settings.TECHNIQUES = ()
    registry.cache_clear()
    world.pass_s(1)
    world.round()
    assert world.document.techniques == {}


def test_the_effect_compares_blocks_before_with_blocks_since(world: World) -> None:
    world.pass_s(120, latency_ms=100)
    world.switch("act")
    world.pass_s(1, latency_ms=100)
    world.round()
    world.obey()
    world.pass_s(1, latency_ms=100)
    world.round()
    world.pass_s(120, latency_ms=25)

    card = world.looked_at()
    assert card["state"] == "applied"
    assert card["effect"]["before"]["p99"] == pytest.approx(100, rel=0.01)
    assert card["effect"]["after"]["p99"] == pytest.approx(25, rel=0.01)
    assert card["effect"]["ratios"]["p99"]["ratio"] == pytest.approx(0.25, rel=0.02)
    assert card["effect"]["ratios"]["p99"]["high"] < 1


def test_what_a_run_did_while_it_warmed_up_is_not_compared(world: World) -> None:
    world.pass_s(30, latency_ms=9_000, warming_up=True)
    world.pass_s(60)
    world.switch("act")
    world.pass_s(1)
    world.round()
    world.obey()
    world.pass_s(1)
    world.round()

    assert [block["p99"] for block in world.setting.before] == pytest.approx([100] * 6, rel=0.01)


def test_without_anything_before_there_is_no_effect_to_tell(world: World) -> None:
    world.switch("act")
    world.pass_s(1)
    world.round()
    world.obey()
    world.pass_s(1)
    world.round()
    world.pass_s(60)

    card = world.looked_at()
    assert card["effect"] is None
