"""Every interleaving of two producers and the consumer, and every place where one may die."""

from collections.abc import Sequence

import pytest

from techniques.pool.osrbuffer.layout import GARBAGE, SKIPPED
from tests.techniques.pool.osrbuffer.model import CONSUMER, Model, Send, State

FIRST, SECOND = 1, 2
# Sleepers whose bell the dead did not ring look again by themselves.
ROUNDS = 6


def explored(model: Model) -> int:
    """Checks every state that can be reached, and what each way ends in; how many they are."""
    seen: set[State] = set()
    stack = [model.first()]
    while stack:
        state = stack.pop()
        if state in seen:
            continue
        seen.add(state)
        stack.extend(model.following(state))
        if not any(model.runs(state, process) for process in range(len(state.locals))):
            check_end(model, state)
    return len(seen)


def check_end(model: Model, state: State) -> None:
    """Nobody moves any more: all that the living sent has come, and nobody waits for nothing."""
    for _ in range(ROUNDS if state.deaths else 0):
        state = model.timeouts(state)
    for process, messages in enumerate(model.sends, 1):
        numbers = [message.number for message in messages]
        missing = [number for number in numbers if number not in state.got]
        if process in state.deaths:
            # Those it had not sent yet; what it had sent before came.
            assert missing == numbers[len(numbers) - len(missing) :]
        else:
            assert model.ended(state, process), "a producer waits for ever"
            assert not missing, f"lost {missing}"
    dead_writers = sum(process != CONSUMER for process in state.deaths)
    assert model.word(state, SKIPPED) <= dead_writers, "somebody living was skipped"
    assert model.word(state, GARBAGE) == 0


ONE_EACH = [[Send(1)], [Send(2)]]
UNEVEN = [[Send(1), Send(2, units=2), Send(3, units=2)]]
LARGE_ONES = [[Send(1, units=2)], [Send(2, units=2)]]


def test_a_producers_messages_come_once_and_in_order_while_another_sends() -> None:
    assert explored(Model(3, [[Send(1), Send(2)], [Send(3)]])) > 100_000


def test_producers_wait_for_room_rather_than_overwrite_and_leave_a_marker_at_the_end() -> None:
    assert explored(Model(3, LARGE_ONES)) > 10_000


@pytest.mark.parametrize(
    ("capacity", "sends", "mortal"),
    [
        (2, ONE_EACH, [FIRST, SECOND]),
        (3, [[Send(1, units=2), Send(2, units=2)]], [CONSUMER, FIRST]),
        (2, ONE_EACH, [CONSUMER]),
    ],
    ids=["both producers", "consumer and producer", "consumer"],
)
def test_whoever_dies_at_whatever_step_the_others_go_on_and_lose_nothing(
    capacity: int, sends: Sequence[Sequence[Send]], mortal: Sequence[int]
) -> None:
    assert explored(Model(capacity, sends, mortal)) > 5_000


@pytest.mark.parametrize(
    ("fault", "capacity", "sends", "mortal"),
    [
        (("if passed < 0 or again:", "if True:"), 3, [[Send(1), Send(2)]], []),
        (("return at // get(me + MY_CAPACITY) <<", "return 0 <<"), 2, ONE_EACH, []),
        (("if at + size > free_to:", "if at + size > free_to + 1:"), 3, UNEVEN, []),
        (("while write < to:", "while write < 0:"), 2, ONE_EACH, [FIRST]),
        (("store(base + RELEASING, to)", "load(base + RELEASING)"), 2, ONE_EACH, [CONSUMER]),
        (("store(base + LISTENING, 1)", "load(base + LISTENING)"), 2, ONE_EACH, []),
        (("store(base + WANTED, 1)", "load(base + WANTED)"), 2, LARGE_ONES, []),
        (("elif at == BLOCKED:", "elif at == BROKEN:"), 2, ONE_EACH, [FIRST]),
    ],
    ids=[
        "no second look",
        "no lap in free words",
        "too much room",
        "nobody advances WRITE for the dead",
        "no RELEASING",
        "sleeps without a word",
        "waits without a word",
        "waits for a dead writer",
    ],
)
def test_the_model_finds_each_of_these_faults(
    fault: tuple[str, str],
    capacity: int,
    sends: Sequence[Sequence[Send]],
    mortal: Sequence[int],
) -> None:
    with pytest.raises(AssertionError):
        explored(Model(capacity, sends, mortal, fault))
