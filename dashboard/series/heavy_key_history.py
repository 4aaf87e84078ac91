"""The keys that a job watches, as its newest frame has them."""

from collectors.formats.heavy_keys import WatchedKeys
from collectors.formats.wire import Frame
from techniques.view import HeavyKey


class HeavyKeyHistory:
    def __init__(self) -> None:
        self._watched: tuple[WatchedKeys, ...] = ()
        self._told_ms = 0

    def take(self, frame: Frame) -> None:
        """One frame a second has them, and each says everything of the last minute."""
        if frame.heavy_keys:
            self._watched, self._told_ms = frame.heavy_keys, frame.start_ms

    def drop_before(self, oldest_ms: float) -> None:
        if self._told_ms < oldest_ms:
            self._watched = ()

    def keys(self) -> tuple[HeavyKey, ...]:
        """The heaviest first."""
        found = (
            HeavyKey(each.columns, key.key, key.partition, key.rows / each.sampled, each.sampled)
            for each in self._watched
            for key in each.keys
        )
        return tuple(sorted(found, key=lambda key: -key.share))
