import asyncio

import pytest

from dashboard.fleet.cache import Cached


class Source:
    """Answers with how often it was asked; each answer may be held up."""

    def __init__(self) -> None:
        self.asked = 0
        self.now_s = 100.0
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.shared = Cached(self.ask, 1.0, lambda: self.now_s)

    async def ask(self) -> int:
        self.asked += 1
        asked = self.asked
        await self.may_answer.wait()
        return asked


@pytest.fixture
async def source() -> Source:
    return Source()


async def test_an_answer_serves_for_its_time_and_no_longer(source: Source) -> None:
    assert [await source.shared.get() for _ in range(3)] == [1, 1, 1]
    source.now_s += 0.99
    assert await source.shared.get() == 1
    source.now_s += 0.01
    assert await source.shared.get() == 2


async def test_many_who_ask_at_once_are_one_question(source: Source) -> None:
    assert await asyncio.gather(*(source.shared.get() for _ in range(50))) == [1] * 50


async def test_forgetting_asks_anew(source: Source) -> None:
    await source.shared.get()
    source.shared.forget()
    assert await source.shared.get() == 2


async def test_an_answer_from_before_a_change_does_not_outlive_it(source: Source) -> None:
    source.may_answer.clear()
    early = asyncio.create_task(source.shared.get())
    await asyncio.sleep(0)
    source.shared.forget()
    source.may_answer.set()
    assert await early == 1
    assert await source.shared.get() == 2


async def test_one_who_leaves_does_not_take_the_others_answer_along(source: Source) -> None:
    source.may_answer.clear()
    leaving = asyncio.create_task(source.shared.get())
    waiting = asyncio.create_task(source.shared.get())
    await asyncio.sleep(0)
    leaving.cancel()
    source.may_answer.set()
    assert await waiting == 2
