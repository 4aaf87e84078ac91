"""Keys that executors counted, merged over executors and the last minute."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.formats.codec import Garbled
from collectors.formats.heavy_keys import KeyRows, WatchedKeys
from collectors.formats.parts import Event, EventSource
from collectors.formats.wire import WINDOW_MS
from collectors.process.events.heavy_keys import (
    LASTS_MS,
    LONGEST_KEY,
    MOST_COLUMNS,
    MOST_KEYS,
    MOST_KEYS_OF_A_BIN,
    HeavyKeys,
)
from tests.collectors.process.test_assembly import (
    FIRST,
    QUERY,
    assembler,
    closed,
    just_closed,
    told,
)

PER_SECOND = 1_000 // WINDOW_MS
SECOND = FIRST - FIRST % PER_SECOND


def event(
    rows: dict[str, int], sampled: int, columns: str = "user_id", query: str = QUERY
) -> Event:
    """Keys are in the partition that is the length of their text."""
    keys = [{"key": key, "partition": len(key), "rows": count} for key, count in rows.items()]
    return said({"columns": columns, "sampled": sampled, "keys": keys}, query)


def said(body: Any, query: str = QUERY) -> Event:
    return Event(EventSource.HEAVY_KEYS, 0, query, json.dumps(body))


def test_executors_and_seconds_are_added_up() -> None:
    keys = HeavyKeys()
    keys.hear(event({"alice": 40, "bob": 5}, 100), SECOND)
    keys.hear(event({"alice": 10}, 50), SECOND + 1)
    keys.hear(event({"carol": 30, "alice": 20}, 50), SECOND + 10 * PER_SECOND)

    rows = (KeyRows("alice", 5, 70), KeyRows("carol", 5, 30), KeyRows("bob", 3, 5))
    assert keys.of(QUERY, SECOND + 11 * PER_SECOND) == (WatchedKeys("user_id", 200, rows),)


def test_one_window_of_a_second_has_them() -> None:
    keys = HeavyKeys()
    keys.hear(event({"alice": 40}, 100), SECOND)

    told = [bool(keys.of(QUERY, SECOND + window)) for window in range(3 * PER_SECOND)]
    assert [at for at, each in enumerate(told) if each] == [0, PER_SECOND, 2 * PER_SECOND]


def test_what_is_older_than_a_minute_is_forgotten() -> None:
    keys = HeavyKeys()
    keys.hear(event({"alice": 40}, 100), SECOND)
    keys.hear(event({"bob": 1}, 10), SECOND + 30 * PER_SECOND)

    (later,) = keys.of(QUERY, SECOND + 70 * PER_SECOND)
    assert later == WatchedKeys("user_id", 10, (KeyRows("bob", 3, 1),))
    (much_later,) = keys.of(QUERY, SECOND + 200 * PER_SECOND)
    assert much_later == WatchedKeys("user_id", 0)


def test_queries_and_columns_do_not_mix() -> None:
    keys = HeavyKeys()
    keys.hear(event({"alice": 1}, 1), SECOND)
    keys.hear(event({"de": 2}, 2, columns="country"), SECOND)
    keys.hear(event({"bob": 3}, 3, query="other"), SECOND)

    assert [(each.columns, each.sampled) for each in keys.of(QUERY, SECOND)] == [
        ("user_id", 1),
        ("country", 2),
    ]
    keys.forget(QUERY)
    assert keys.of(QUERY, SECOND) == ()
    assert [each.sampled for each in keys.of("other", SECOND)] == [3]


def test_however_many_keys_there_are_the_heaviest_are_told_and_the_rest_is_let_go() -> None:
    keys = HeavyKeys()
    for number in range(3 * MOST_KEYS_OF_A_BIN):
        keys.hear(event({f"rare {number}": 1, "often": 2}, 3), SECOND)

    (watched,) = keys.of(QUERY, SECOND)
    assert len(watched.keys) == MOST_KEYS
    assert watched.keys[0] == KeyRows("often", 5, 6 * MOST_KEYS_OF_A_BIN)
    assert watched.sampled == 9 * MOST_KEYS_OF_A_BIN
    (held,) = keys._bins[QUERY]["user_id"]
    assert len(held.rows) <= 2 * MOST_KEYS_OF_A_BIN


def test_columns_beyond_the_first_few_and_long_keys_are_cut() -> None:
    keys = HeavyKeys()
    for number in range(MOST_COLUMNS + 3):
        keys.hear(event({"k" * 300: 1}, 1, columns=f"column {number}"), SECOND)

    watched = keys.of(QUERY, SECOND)
    assert len(watched) == MOST_COLUMNS
    assert {len(key.key) for each in watched for key in each.keys} == {LONGEST_KEY}


@given(
    st.lists(
        st.tuples(st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 50)), st.integers(0)),
        max_size=30,
    )
)
def test_no_key_seems_heavier_than_it_was_told(seconds: list[tuple[dict[str, int], int]]) -> None:
    keys = HeavyKeys()
    window = SECOND
    for rows, pause in seconds:
        window += PER_SECOND * (pause % (LASTS_MS // 1000))
        keys.hear(event(rows, sum(rows.values()) + 1), window)

    for watched in keys.of(QUERY, window):
        assert sum(key.rows for key in watched.keys) <= watched.sampled
        for key in watched.keys:
            assert key.rows <= sum(rows.get(key.key, 0) for rows, _ in seconds)


@pytest.mark.parametrize(
    "body",
    [
        [],
        {},
        {"columns": "a", "sampled": 3},
        {"columns": 7, "sampled": 3, "keys": []},
        {"columns": "a", "sampled": True, "keys": []},
        {"columns": "a", "sampled": -1, "keys": []},
        {"columns": "a", "sampled": 3, "keys": [{"key": "b", "partition": 0}]},
        {"columns": "a", "sampled": 3, "keys": [{"key": 1, "partition": 0, "rows": 1}]},
        {"columns": "a", "sampled": 3, "keys": [{"key": "b", "partition": 2**31, "rows": 1}]},
        {"columns": "a", "sampled": 3, "keys": [{"key": "b", "partition": 0, "rows": 4}]},
    ],
)
def test_anything_else_is_garbled(body: Any) -> None:
    with pytest.raises(Garbled, match="heavy keys"):
        HeavyKeys().hear(said(body), SECOND)


@pytest.mark.parametrize("odd", ["\ud800", "\x00", "\n"])
def test_what_cannot_be_shown_reaches_a_frame_as_a_question_mark(odd: str) -> None:
    keys = HeavyKeys()
    keys.hear(event({f"Jürgen {odd}": 1}, 1), SECOND)

    assert keys.of(QUERY, SECOND)[0].keys[0].key == "Jürgen ?"


def test_the_assembler_puts_them_into_the_frames_of_their_query() -> None:
    made = assembler()
    now_ms = FIRST * WINDOW_MS
    made.add_part(told(FIRST, event({"alice": 2}, 3), event({"bob": 1}, 1, query="?")), now_ms)
    made.add_part(told(FIRST, said({})), now_ms)
    frames = closed(made, just_closed(PER_SECOND))

    (watched,) = [each for frame in frames for each in frame.heavy_keys]
    assert watched == WatchedKeys("user_id", 3, (KeyRows("alice", 5, 2),))
    assert frames[-1].health.unreadable_messages == 1
