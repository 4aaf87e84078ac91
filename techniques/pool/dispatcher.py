"""Sends chunks to the instances of one operator, chosen by the policy in force, by their rings."""

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from techniques.latency_balancing.algorithm import Tuning
from techniques.pool import settings
from techniques.pool.host.meeting_place import ring_path, shared_path
from techniques.pool.messages import Parcel
from techniques.pool.osrbuffer.errors import NotARing
from techniques.pool.osrbuffer.ring import Ring
from techniques.pool.page import Page
from techniques.pool.page_words import InstanceWord
from techniques.pool.policies import SHARED, Policy, Worked, policy
from techniques.pool.shared_queue import SharedQueue


class Given(NamedTuple):
    """The receiver of a chunk: an instance and its incarnation; or `SHARED`, and 0."""

    instance: int
    incarnation: int


class _Open(NamedTuple):
    incarnation: int
    ring: Ring


class Dispatcher:
    """Used by one thread of one process. `weights_at` is where the page has its weights."""

    def __init__(self, page: Page, where: str, position: int, weights_at: int) -> None:
        self._page = page
        self._where = where
        self._position = position
        self._weights_at = weights_at
        self._open: dict[int, _Open] = {}
        self._shared: SharedQueue | None = None
        self._chosen: int | None = None
        self._version = -1
        self._number = -1
        self._policy: Policy = policy(0)
        self._ready: Sequence[int] = ()

    # ---- what a policy may know -----------------------------------------------------------

    @property
    def ready(self) -> Sequence[int]:
        return self._ready

    def queued(self, instance: int) -> int:
        found = self._ring(instance)
        busy = self._page.words[self._page.instance(instance, InstanceWord.BUSY_SINCE)] != 0
        return (found.ring.depth() if found else 0) + busy

    def worked(self, instance: int) -> Worked:
        words, at = self._page.words, self._page.instance(instance)
        return Worked(words[at + InstanceWord.EXECUTED], words[at + InstanceWord.LATENCY_NS])

    @property
    def shares(self) -> Mapping[int, float]:
        words, of = self._page.words, self._page.instance
        found = {one: words[of(one, InstanceWord.SHARE)] for one in self._ready}
        return {one: float(share) for one, share in found.items() if share}

    @property
    def tuning(self) -> Tuning:
        return Tuning(
            alpha=self._page.setting(settings.BALANCE_ALPHA) / 1000,
            threshold=self._page.setting(settings.BALANCE_THRESHOLD) / 1000,
            unit=self._page.setting(settings.BALANCE_UNIT) / 100,
        )

    @property
    def period_s(self) -> float:
        return self._page.setting(settings.BALANCE_PERIOD_MS) / 1000

    @property
    def now_s(self) -> float:
        return time.monotonic()

    def weigh(self, weights: Mapping[int, float]) -> None:
        for one in self._page.operator(self._position):
            self._page.words[self._weights_at + one] = round(100 * weights.get(one, 0))

    # ---- sending --------------------------------------------------------------------------

    def give(self, parcel: Parcel, timeout_s: float = 0) -> Given | None:
        """Sends a chunk. None if no instance is ready, or the chosen one has no room.

        The choice stands until there is room, as in the papers' systems; it is made again when the
        instance is gone or the policy is changed.
        """
        self._ready = self._page.ready(self._position)
        if not self._ready:
            return None
        self.obey()
        if self._chosen not in (*self._ready, SHARED):
            self._chosen = None
        if self._chosen is None:
            self._chosen = self._policy.choose(self)
        given = self._given(self._chosen, parcel, timeout_s)
        if given is not None:
            self._chosen = None
        return given

    def give_to_another(self, parcel: Parcel, than: int) -> Given | None:
        """Sends a copy to the instance with the fewest chunks that is not this one."""
        self._ready = self._page.ready(self._position)
        others = [one for one in self._ready if one != than]
        return self._given(min(others, key=self.queued), parcel, 0) if others else None

    def close(self) -> None:
        for opened in self._open.values():
            opened.ring.close()
        self._open.clear()
        if self._shared is not None:
            self._shared.close()
            self._shared = None

    def obey(self) -> int:
        """Reads the control word and returns its version; another policy begins afresh."""
        version, number = self._page.control
        if version != self._version:
            self._version, self._chosen = version, None
            if number != self._number:
                self._number, self._policy = number, policy(number)
                self.weigh({})
        return version

    def _given(self, to: int, parcel: Parcel, timeout_s: float) -> Given | None:
        if to == SHARED:
            if self._shared is None:
                self._shared = SharedQueue(shared_path(self._where, self._position))
            return Given(SHARED, 0) if self._shared.offer(parcel, timeout_s) else None
        found = self._ring(to)
        if found is None or not parcel.offer(found.ring, timeout_s):
            return None
        return Given(to, found.incarnation)

    def _ring(self, instance: int) -> _Open | None:
        incarnation = self._page.incarnation(instance)
        found = self._open.get(instance)
        if found is None or found.incarnation != incarnation:
            if found is not None:
                del self._open[instance]
                found.ring.close()
            found = None
            # If the instance died just now, its file is already gone.
            with suppress(FileNotFoundError, NotARing):
                ring = Ring.attach(ring_path(self._where, instance, incarnation))
                found = self._open[instance] = _Open(incarnation, ring)
        return found
