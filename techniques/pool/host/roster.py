"""Which instances a pool has: brings every operator to the number that is wanted of it.

The layout of the page (`techniques.pool.page`) has the two steps in which an instance leaves, and
why no chunk can be on its way to one that finishes.
"""

from collections.abc import Container

from techniques.pool.page import FINISHES, LEAVES, SERVES, Page
from techniques.pool.page_words import HeaderWord, InstanceWord, OperatorWord


class Roster:
    """Used by the supervisor; it alone writes the words of service."""

    def __init__(self, page: Page) -> None:
        self._page = page
        # Who leaves, and the roster that everybody has to know before it may finish.
        self._leaving: dict[int, int] = {}
        for number in range(page.instances):
            self._put(number, FINISHES)

    def look(self, there: Container[int]) -> list[int]:
        """Returns the instances to start. `there` has a process, or waits to get one again."""
        self._let_finish()
        start: list[int] = []
        leave: list[int] = []
        for position in range(self._page.operators):
            self._bring(position, there, start, leave)
        if leave:
            # Their words were written before: who knows the new roster sees them.
            roster = self._page.roster + 1
            self._page.words[HeaderWord.ROSTER] = roster
            self._leaving |= dict.fromkeys(leave, roster)
        return start

    def serves(self, number: int) -> bool:
        return self._service(number) == SERVES

    def finishes(self, number: int) -> bool:
        return self._service(number) == FINISHES

    def _bring(
        self, position: int, there: Container[int], start: list[int], leave: list[int]
    ) -> None:
        words, operator = self._page.words, self._page.operator(position)
        wanted = words[self._page.of_operator(position, OperatorWord.WANTED)]
        # The word is in a file that others of the same user may write.
        wanted = max(1, min(len(operator), wanted))
        is_reached = True
        for number in operator[:wanted]:
            if self.finishes(number) and number in there:
                is_reached = False  # nobody can call it back: it is started anew when it is gone
                continue
            self._leaving.pop(number, None)
            self._put(number, SERVES)
            if number not in there:
                start.append(number)
        for number in operator[wanted:]:
            if self.serves(number):
                self._put(number, LEAVES)
                leave.append(number)
            is_reached &= self.finishes(number)
        if is_reached:
            words[self._page.of_operator(position, OperatorWord.REACHED)] = wanted

    def _let_finish(self) -> None:
        for number, roster in list(self._leaving.items()):
            if self._page.roster_seen_by_all(roster):
                self._put(number, FINISHES)
                del self._leaving[number]

    def _service(self, number: int) -> int:
        return self._page.words[self._page.instance(number, InstanceWord.SERVICE)]

    def _put(self, number: int, service: int) -> None:
        self._page.words[self._page.instance(number, InstanceWord.SERVICE)] = service
