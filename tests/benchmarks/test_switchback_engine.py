"""The order of events in blocks: a made-up job behind a real Redis hears and answers."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from redis import Redis

from benchmarks.switchback import restarts
from benchmarks.switchback.arms import (
    ALL,
    CHANGELOG,
    CONTROL,
    CORE,
    DELAY,
    HIGH,
    OFF,
    SNAPSHOTS,
    THREADS,
    THRESHOLDS,
)
from benchmarks.switchback.engine import Measured, Plan, on
from benchmarks.switchback.query import Query, Stuck
from benchmarks.switchback.regimes import SETTINGS, Regime
from collectors.formats import control, keys, wire
from collectors.formats.asked import Applied, Asked, State
from collectors.formats.buckets import Histogram
from collectors.formats.control import Control, Value
from collectors.formats.wire import Batch, Frame
from dashboard.testing.stack import RedisServer
from techniques.shadowsync.algorithm import THRESHOLD

JOB_ID = "made-up.job"
PLAN = Plan(budget_s=600, rounds=1, warm_up=2, settle=1, length=12, rephase=1_000_000, held_s=60)
IN_STEP = {"in_step": True, "base": THRESHOLD}

Settings = dict[str, Value]
Answer = Callable[[Settings], tuple[State, str]]


def applied(_settings: Settings) -> tuple[State, str]:
    return State.APPLIED, ""


class MadeUpJob(threading.Thread):
    """A micro-batch per window; says of what is asked what `answer` tells it to."""

    def __init__(self, redis: RedisServer, answer: Answer) -> None:
        super().__init__(daemon=True)
        self._redis: Any = Redis.from_url(redis.url)
        self._answer = answer
        self.over = threading.Event()
        self.heard: dict[int, Settings] = {}
        # Which version was in force when each batch ended.
        self.versions: list[int] = []

    @property
    def lives(self) -> bool:
        return not self.over.is_set()

    def said(self) -> str:
        return "made up"

    def run(self) -> None:
        window = 1_000_000
        while not self.over.wait(0.01):
            data = self._redis.get(keys.control(JOB_ID))
            asked = self._asked(control.decode(data)) if data else None
            number = len(self.versions)
            frame = Frame(
                window,
                number,
                UUID(int=1),
                batches=(Batch(number, window * 50, 40, 100),),
                committed=Histogram.of([1_000 * (number + 1)] * 100),
                asked=asked,
            )
            self.versions.append(asked.version if asked else 0)
            stream = keys.frames(JOB_ID).key
            at = f"{frame.start_ms}-0"
            self._redis.xadd(stream, {keys.PAYLOAD: wire.encode(frame)}, id=at)
            window += 1

    def _asked(self, document: Control) -> Asked:
        if (wanted := document.techniques.get("shadowsync")) is None:
            return Asked(document.version, settled=True)
        self.heard[document.version] = dict(wanted.settings)
        state, because = self._answer(dict(wanted.settings))
        told = Applied("shadowsync", "act", state, wanted.version, because)
        return Asked(document.version, state == State.APPLIED, (told,))


@contextmanager
def made_up(redis: RedisServer, answer: Answer = applied) -> Iterator[MadeUpJob]:
    job = MadeUpJob(redis, answer)
    job.start()
    try:
        yield job
    finally:
        job.over.set()
        job.join()


def measured(redis: RedisServer, job: MadeUpJob, plan: Plan = PLAN) -> Measured:
    query = Query(job, redis.url, JOB_ID)
    return on(query, SETTINGS["statistical"], plan, time.monotonic() + plan.budget_s, print)


def test_each_block_is_asked_for_after_all_stores_are_in_step(redis: RedisServer) -> None:
    with made_up(redis) as job:
        found = measured(redis, job)
        asked = [job.heard[version] for version in sorted(job.heard)]

    assert [each.arm for each in found.figures] == list(CORE)
    # Off and the control stay in step as they are.
    assert asked[:3] == [IN_STEP, {"in_step": True, "base": 5}, IN_STEP]
    assert asked[3].items() >= {"thresholds": True, "spread": 4}.items()


def test_only_batches_in_which_it_was_in_force_are_counted(redis: RedisServer) -> None:
    with made_up(redis) as job:
        found = measured(redis, job)
        versions = list(job.versions)
    last_of = {OFF: 1, CONTROL: 2, THRESHOLDS: 4}

    for each in found.figures:
        assert each.checkpoints == PLAN.length
        assert each.records == 100 * PLAN.length
        counted = versions[each.first_batch - PLAN.settle : each.last_batch + 1]
        assert counted == [last_of[each.arm]] * (PLAN.settle + PLAN.length)


def test_a_block_is_two_cycles_of_compactions_where_that_is_longer(redis: RedisServer) -> None:
    with made_up(redis) as job:
        found = measured(redis, job, replace(PLAN, draw=HIGH))

    assert [(each.arm, each.checkpoints) for each in found.figures] == [
        (OFF, 12),
        (CONTROL, 20),
        (THRESHOLDS, 22),
    ]


def test_starts_with_and_without_changelogs_take_turns(redis: RedisServer) -> None:
    """The first start of the second round is that of the same kind as the last of the first."""
    begun: list[bool] = []
    asked: list[list[Settings | None]] = []

    @contextmanager
    def start(regime: Regime) -> Iterator[Query]:
        begun.append("--changelog" in regime.words)
        Redis.from_url(redis.url).flushall()
        with made_up(redis) as job:
            yield Query(job, redis.url, JOB_ID)
        asked.append([settings for _, settings in sorted(job.heard.items())])

    plan = replace(restarts.plan(600, rounds=2, warm_up=2, length=3), rephase=1_000_000, settle=1)
    found = restarts.measure(SETTINGS["statistical"], plan, print, start)

    assert begun == [False, True, True, False]
    assert [(each.round, each.arm) for each in found.figures] == [
        *((0, OFF), (0, THRESHOLDS), (0, CHANGELOG), (0, SNAPSHOTS)),
        *((1, SNAPSHOTS), (1, CHANGELOG), (1, THRESHOLDS), (1, OFF)),
    ]
    assert asked[0][0] == IN_STEP
    # Nothing is asked for in the arm that has changelogs alone, before and after the other.
    assert asked[1] == asked[2] == [{"snapshots": True}]
    assert found.left_out == {}


def test_what_the_job_refuses_is_left_out_with_its_reason(redis: RedisServer) -> None:
    def answer(settings: Settings) -> tuple[State, str]:
        return (State.REFUSED, "too full") if settings.get("thresholds") else applied(settings)

    with made_up(redis, answer) as job:
        found = measured(redis, job)

    assert [each.arm for each in found.figures] == [OFF, CONTROL]
    assert found.left_out == {THRESHOLDS: "refused: too full"}


def test_a_block_in_which_the_job_gives_up_does_not_count(redis: RedisServer) -> None:
    answers = iter([applied({})] * 20)

    def answer(settings: Settings) -> tuple[State, str]:
        if settings.get("thresholds"):
            return next(answers, (State.REFUSED, "compaction is behind"))
        return applied(settings)

    with made_up(redis, answer) as job:
        found = measured(redis, job, replace(PLAN, length=40))

    assert [each.arm for each in found.figures] == [OFF, CONTROL]
    assert found.left_out == {THRESHOLDS: "refused: compaction is behind"}


def test_when_the_time_is_up_no_block_is_begun_and_that_is_said(redis: RedisServer) -> None:
    with made_up(redis) as job:
        found = measured(redis, job, replace(PLAN, budget_s=0.0))

    assert [each.arm for each in found.figures] == [OFF]
    assert found.left_out == {CONTROL: "the time was up", THRESHOLDS: "the time was up"}


def test_stores_that_do_not_get_in_step_in_time_are_measured_and_said(redis: RedisServer) -> None:
    def answer(settings: Settings) -> tuple[State, str]:
        return (State.ASKED, "") if settings.get("in_step") else applied(settings)

    with made_up(redis, answer) as job:
        found = measured(redis, job, replace(PLAN, rephase=2))

    assert [(each.arm, each.in_step) for each in found.figures] == [(arm, False) for arm in CORE]


def test_without_a_state_store_there_is_no_delay_and_that_is_said(redis: RedisServer) -> None:
    extra = (DELAY, THREADS, ALL)
    with made_up(redis) as job:
        found = measured(redis, job, replace(PLAN, extra=extra))

    assert [each.arm for each in found.figures] == [*CORE, THREADS, ALL]
    assert found.left_out == {DELAY: "the controller decides nothing for this job"}


def test_a_job_that_ends_is_an_error_with_what_it_said_last(redis: RedisServer) -> None:
    with made_up(redis) as job:
        query = Query(job, redis.url, JOB_ID)
        query.wait_for_batches(1)
        job.over.set()
        with pytest.raises(Stuck, match="made up"):
            query.wait_for_batches(1_000)
