"""Sends chunks to the instances of one operator, chosen by the policy in force, by their rings."""

from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from techniques.pool.host.meeting_place import ring_path
from techniques.pool.messages import Parcel
from techniques.pool.osrbuffer.errors import NotARing
from techniques.pool.osrbuffer.ring import Ring
from techniques.pool.page import Page
from techniques.pool.policies import Policy, policy


class Given(NamedTuple):
    """The receiver of a chunk: an instance and its incarnation."""

    instance: int
    incarnation: int


class _Open(NamedTuple):
    incarnation: int
    ring: Ring


class Dispatcher:
    """Used by one thread of one process."""

    def __init__(self, page: Page, where: str, position: int) -> None:
        self._page = page
        self._where = where
        self._position = position
        self._open: dict[int, _Open] = {}
        self._chosen: int | None = None
        self._version = -1
        self._policy: Policy = policy(0)
        self._ready: Sequence[int] = ()

    @property
    def ready(self) -> Sequence[int]:
        return self._ready

    def queued(self, instance: int) -> int:
        found = self._ring(instance)
        return found.ring.depth() if found else 0

    def give(self, parcel: Parcel, timeout_s: float = 0) -> Given | None:
        """Sends a chunk. None if no instance is ready, or the chosen one has no room.

        The choice stands until there is room, as in the papers' systems; it is made again when the
        instance is gone or the policy is changed.
        """
        self._ready = self._page.ready(self._position)
        if not self._ready:
            return None
        self.obey()
        if self._chosen not in self._ready:
            self._chosen = self._policy.choose(self)
        found = self._ring(self._chosen)
        if found is None or not parcel.offer(found.ring, timeout_s):
            return None
        given = Given(self._chosen, found.incarnation)
        self._chosen = None
        return given

    def close(self) -> None:
        for opened in self._open.values():
            opened.ring.close()
        self._open.clear()

    def obey(self) -> int:
        """Reads the control word, returns its version; a new version resets the policy's state."""
        version, number = self._page.control
        if version != self._version:
            self._version, self._policy, self._chosen = version, policy(number), None
        return version

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
