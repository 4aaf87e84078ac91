import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from collectors.formats.announcement import Announcement
from collectors.formats.pulse import Pulse
from dashboard.cli import demo, steady
from dashboard.store import StoreUnavailable
from examples import enrichment, traffic_jam, word_count
from tests.factories import ANNOUNCEMENT, PULSE

WARMING_UP = replace(ANNOUNCEMENT, pulse=replace(PULSE, warming_up=True))
STEADY = replace(ANNOUNCEMENT, pulse=replace(PULSE, warming_up=False))
JOB = ANNOUNCEMENT.application


@dataclass
class Told:
    """A Redis that gives these answers one after the other, the last of them for ever."""

    answers: list[Sequence[Announcement] | StoreUnavailable]
    asked: int = 0

    async def announcements(self) -> Sequence[Announcement]:
        self.asked += 1
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, StoreUnavailable):
            raise answer
        return answer


def waited(told: Told, timeout_s: float = 30) -> bool:
    return asyncio.run(steady.wait_for(told, JOB, timeout_s, every_s=0))


@pytest.mark.parametrize(
    "said",
    [
        WARMING_UP,
        replace(STEADY, application="another"),
        replace(STEADY, pulse=None),
        replace(STEADY, pulse=Pulse()),
    ],
    ids=["warming up", "of another job", "says nothing of itself", "no batch yet"],
)
def test_a_job_is_not_steady(said: Announcement) -> None:
    assert not steady.is_steady(JOB, [said])


def test_a_job_is_steady_once_it_has_warmed_up() -> None:
    assert steady.is_steady(JOB, [replace(WARMING_UP, application="another"), STEADY])


def test_the_next_job_waits_for_the_one_before() -> None:
    told = Told([[], [WARMING_UP], [WARMING_UP], [STEADY]])
    assert waited(told)
    assert told.asked == 4


def test_a_redis_that_is_away_for_a_moment_is_asked_again() -> None:
    assert waited(Told([StoreUnavailable(), [STEADY]]))


def test_a_job_that_never_gets_steady_is_not_waited_for_for_ever() -> None:
    assert not waited(Told([[WARMING_UP]]), timeout_s=0.05)


def test_the_demo_waits_for_the_names_that_its_jobs_have() -> None:
    names = {"traffic_jam": traffic_jam, "word_count": word_count, "enrichment": enrichment}
    assert {job: demo._application(job) for job in demo.JOBS} == {
        job: names[job].NAME for job in demo.JOBS
    }


def test_the_job_that_trouble_was_asked_for_starts_first() -> None:
    assert demo.in_turn(None) == demo.JOBS
    assert demo.in_turn("hang")[0] == "enrichment"
    assert set(demo.in_turn("hang")) == set(demo.JOBS)
