"""What a view has of the keys that a job watches."""

from collectors.formats.heavy_keys import KeyRows, WatchedKeys
from collectors.formats.wire import WINDOW_MS, Frame, decode, encode
from dashboard.series.history import History, only
from techniques.view import HeavyKey, Reads
from tests.factories import RUN_ID, START_MS

FIRST = START_MS // WINDOW_MS
READS = frozenset((Reads.HEAVY_KEYS,))
WATCHED = (
    WatchedKeys("user_id", 200, (KeyRows("alice", 3, 100), KeyRows("bob", 1, 2))),
    WatchedKeys("country", 10, (KeyRows("de", 0, 4),)),
)


def frames(windows: int, *watched: WatchedKeys, first: int = FIRST) -> list[Frame]:
    """Only the first of them has the keys, as one frame a second has."""
    made = [Frame(first + at, at, RUN_ID, heavy_keys=watched * (at == 0)) for at in range(windows)]
    return [decode(encode(frame), only(READS)) for frame in made]


def test_the_heaviest_key_comes_first() -> None:
    history = History(100, READS)
    history.add(frames(20, *WATCHED))

    assert history.view().heavy_keys == (
        HeavyKey("user_id", "alice", 3, 0.5, 200),
        HeavyKey("country", "de", 0, 0.4, 10),
        HeavyKey("user_id", "bob", 1, 0.01, 200),
    )


def test_newer_keys_replace_older_ones_and_old_ones_leave_with_their_windows() -> None:
    history = History(100, READS)
    history.add(frames(20, *WATCHED))
    history.add(frames(20, WATCHED[1], first=FIRST + 20))
    assert [key.key for key in history.view().heavy_keys] == ["de"]

    history.add(frames(100, first=FIRST + 40))
    assert history.view().heavy_keys == ()


def test_a_job_that_watches_nothing_has_none() -> None:
    history = History(100, READS)
    history.add(frames(20))

    assert history.view().heavy_keys == ()
