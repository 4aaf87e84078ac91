"""What a task does when instances die: which of its chunks are lost, and when it must fail."""

from collections.abc import Mapping, Sequence

from techniques.pool.dispatcher import Given
from techniques.pool.host.meeting_place import start_failure_path
from techniques.pool.kept import Kept
from techniques.pool.page import READY, Page
from techniques.pool.page_words import InstanceWord
from techniques.pool.policies import SHARED

MOST_DEATHS = 3
MOST_START_FAILURES = 2


class OperatorNotLoaded(Exception):
    """The user's function could not be loaded on any instance."""


class InstancesDied(Exception):
    """A chunk kills each instance that works on it; endless retries would hang the job silently."""


def last_deaths(page: Page) -> list[int]:
    """Returns the last incarnation of each instance that may have died with a chunk."""
    return [page.words[page.instance(one, InstanceWord.DIED)] for one in range(page.instances)]


def blame(page: Page, slot: int, kept: Mapping[int, Kept], died: Sequence[int]) -> None:
    """Counts the deaths of instances that worked on a chunk of this slot; raises if too many."""
    for instance in died:
        at = page.instance(instance)
        blamed = kept.get(page.words[at + InstanceWord.DIED_CHUNK])
        if blamed is not None and page.words[at + InstanceWord.DIED_SLOT] == slot + 1:
            blamed.deaths += 1
            if blamed.deaths >= MOST_DEATHS:
                raise InstancesDied(
                    f"{MOST_DEATHS} instances of the pool died while they worked on one chunk "
                    f"of {blamed.chunk.rows} rows: see the executor's log"
                )


def lost(
    page: Page, kept: Mapping[int, Kept], died: Sequence[int], deaths: Sequence[int]
) -> list[int]:
    """Returns the chunks to send again, because nobody may have them any more."""
    # We do not know which operator of the chain has a chunk now. So if an instance of a later
    # operator died, all chunks are sent again; duplicate results are dropped. The same holds for
    # chunks in the queue that all share: the one that died may have taken any of them.
    first = page.operator(0)
    further_on = any(instance not in first for instance in died)

    def is_alive(given: Given | None) -> bool:
        return (
            given is not None
            and given.instance != SHARED
            and given.incarnation > deaths[given.instance]
        )

    found: list[int] = []
    for number, each in kept.items():
        if each.given is None:
            continue
        left = [one for one in (each.given, each.copy) if is_alive(one)]
        if further_on or not left:
            found.append(number)
        else:
            each.given, each.copy = left[0], left[1] if len(left) > 1 else None
    return found


def nobody_comes_up(page: Page, where: str) -> None:
    """Raises if all instances of an operator fail to load it."""
    for position in range(page.operators):
        siblings = page.operator(position)
        failures = {
            one: page.words[page.instance(one, InstanceWord.START_FAILURES)] for one in siblings
        }
        failed = [one for one, times in failures.items() if times >= MOST_START_FAILURES]
        if failed and not any(page.words[page.instance(one)] == READY for one in siblings):
            try:
                why = start_failure_path(where, failed[0]).read_text()
            except OSError:
                continue
            name = page.operator_name(position)
            raise OperatorNotLoaded(f"the operator {name} could not be loaded:\n{why}")
