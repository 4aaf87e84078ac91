from typing import Any

import pytest
from playwright.sync_api import Page

from tests.frontend.modules import run

pytestmark = pytest.mark.browser

NOW = 1_000_000_000  # where a FakeClock starts
KEPT = 15 * 60 * 1000
# What the page opens with, what came after it until the connection stood, and what is older.
FIRST = [NOW - 302_000, NOW]
OLDER = [NOW - KEPT, NOW - 302_000]

# A feed over a real ring. `asked` lists what was fetched, `answer` gives each answer.
SET_UP = """
const { WindowRing } = await import('/static/curtail/js/chart/ring.js');
FakeSocket.all = [];
const clock = new FakeClock();
const ring = new WindowRing();
const asked = [];
const refused = [];
let answer = async (start, end) => batch([]);
const feed = new m.Feed({
  socketUrl: "ws://test",
  fetchWindows: (start, end) => { asked.push([start, end]); return answer(start, end); },
  firstRange: [clock.now() - 302_000, clock.now()],
  lastMs: () => ring.lastMs,
  onWindows: (b, skip) => ring.put(b, skip),
  onRefused: (code) => refused.push(code),
  Socket: FakeSocket, clock, random: () => 0,
});
const hello = async (seq = 0, aheadMs = 0) => {
  FakeSocket.last.say({ type: "hello", seq, now_ms: clock.now() + aheadMs });
  await settle();
};
const windows = async (seq, times, values) => {
  FakeSocket.last.say({ type: "windows", seq, ...batch(times, values) });
  await settle();
};
"""


def feed(blank: Page, body: str) -> Any:
    return run(blank, "job/feed", f"{SET_UP} feed.start(); {body}")


def test_it_fetches_what_will_be_in_view_before_it_is_connected(blank: Page) -> None:
    asked, loaded, connection = feed(
        blank, "await settle(); return [asked, feed.loaded, feed.connection];"
    )
    assert asked == [FIRST]
    assert (loaded, connection) == (True, "connecting")


def test_then_what_came_meanwhile_by_the_clock_of_the_server_and_then_what_is_older(
    blank: Page,
) -> None:
    asked, connection = feed(blank, "await hello(0, 60_000); return [asked, feed.connection];")
    assert asked == [FIRST, [NOW, NOW + 60_000], OLDER]
    assert connection == "live"


def test_what_is_older_is_not_waited_for(blank: Page) -> None:
    during, since, afterwards = feed(
        blank,
        f"""let release;
        const held = new Promise((resolve) => (release = resolve));
        answer = async (start) => (start === {OLDER[0]} ? held : batch([]));
        await hello();
        const during = feed.connection;
        const since = feed.sinceMs;
        release(batch([]));
        await settle();
        return [during, since, Number.isFinite(feed.sinceMs)];""",
    )
    assert (during, since) == ("live", FIRST[0])
    assert not afterwards


def test_what_will_be_in_view_is_tried_again_without_a_connection(blank: Page) -> None:
    asked, loaded = run(
        blank,
        "job/feed",
        SET_UP
        + """answer = async () => { throw new Error("503"); };
        feed.start();
        await settle();
        await hello();
        FakeSocket.last.drop();
        answer = async () => batch([]);
        await clock.advance(600);
        return [asked, feed.loaded];""",
    )
    assert asked == [FIRST, FIRST, FIRST]
    assert loaded


def test_numbered_batches_in_a_row_cause_no_fetch(blank: Page) -> None:
    asked, size = feed(
        blank,
        f"""await hello(4);
        for (let i = 1; i <= 50; i += 1) await windows(4 + i, [{NOW} + i * 50]);
        return [asked.length, ring.size];""",
    )
    assert (asked, size) == (3, 50)


def test_a_skipped_number_is_refilled_exactly_once_from_the_last_window_held(blank: Page) -> None:
    asked, size, connection = feed(
        blank,
        f"""await hello();
        await windows(1, [{NOW}]);
        await clock.advance(1000);
        answer = async () => batch([{NOW}, {NOW} + 50, {NOW} + 100]);
        FakeSocket.last.say({{ type: "behind", skipped: 2 }});
        await windows(4, [{NOW} + 150]);
        await windows(5, [{NOW} + 200]);
        await clock.advance(60_000);
        return [asked.slice(3), ring.size, feed.connection];""",
    )
    assert asked == [[NOW, NOW + 1000]]
    assert (size, connection) == (5, "live")


def test_it_says_behind_until_the_gap_is_filled(blank: Page) -> None:
    states = feed(
        blank,
        f"""await hello();
        await windows(1, [{NOW}]);
        let release;
        answer = () => new Promise((resolve) => (release = () => resolve(batch([]))));
        await windows(3, [{NOW} + 100]);
        const during = feed.connection;
        release();
        await settle();
        return [during, feed.connection];""",
    )
    assert states == ["behind", "live"]


def test_what_came_live_during_a_fetch_is_not_overwritten_by_its_answer(blank: Page) -> None:
    values = feed(
        blank,
        f"""let release;
        answer = () => new Promise((resolve) => (release = resolve));
        await hello();
        await windows(1, [{NOW}], {{ p50: [222] }});
        release(batch([{NOW} - 50, {NOW}], {{ p50: [1, 111] }}));
        await settle();
        return [{NOW} / 50 - 1, {NOW} / 50].map((n) => ring.value("p50", n));""",
    )
    assert values == [1, 222]


def test_two_gaps_during_one_fetch_cause_one_more_fetch(blank: Page) -> None:
    asked = feed(
        blank,
        f"""await hello();
        await windows(1, [{NOW}]);
        const releases = [];
        answer = () => new Promise((resolve) => releases.push(() => resolve(batch([]))));
        await windows(3, [{NOW} + 100]);
        await windows(5, [{NOW} + 200]);
        await windows(7, [{NOW} + 300]);
        releases.shift()();
        await settle();
        releases.shift()();
        await settle();
        return asked.slice(3).map(([start]) => start);""",
    )
    assert asked == [NOW, NOW + 100]


def test_a_failed_fetch_is_tried_again_from_where_the_gap_began(blank: Page) -> None:
    asked, waits, connection = feed(
        blank,
        f"""await hello();
        await windows(1, [{NOW}]);
        let failures = 3;
        answer = async () => {{ if (failures-- > 0) throw new Error("503"); return batch([]); }};
        await windows(3, [{NOW} + 100]);
        await windows(4, [{NOW} + 150]);
        await clock.advance(20_000);
        return [asked.slice(3).map(([start]) => start), clock.waits, feed.connection];""",
    )
    assert asked == [NOW] * 4
    assert waits == [500, 1000, 2000]
    assert connection == "live"


def test_a_gap_left_open_by_a_lost_connection_is_filled_after_the_next_hello(blank: Page) -> None:
    asked = feed(
        blank,
        f"""await hello();
        await windows(1, [{NOW}]);
        answer = async () => {{ throw new Error("down"); }};
        await windows(3, [{NOW} + 100]);
        FakeSocket.last.drop();
        await clock.advance(600);
        answer = async () => batch([]);
        await hello(9);
        return asked.at(-1)[0];""",
    )
    assert asked == NOW


def test_it_reconnects_with_growing_waits_and_starts_over_after_a_hello(blank: Page) -> None:
    waits, states = feed(
        blank,
        """await hello();
        const states = [];
        for (let i = 0; i < 6; i += 1) {
          FakeSocket.last.drop();
          states.push(feed.connection);
          await clock.advance(5000);
        }
        await hello();
        states.push(feed.connection);
        FakeSocket.last.drop();
        return [clock.waits, [...new Set(states)]];""",
    )
    assert waits == [500, 1000, 2000, 4000, 5000, 5000, 500]
    assert states == ["reconnecting", "live"]


def test_it_knows_since_when_the_connection_is_down(blank: Page) -> None:
    since, up = feed(
        blank,
        """await hello();
        FakeSocket.last.drop();
        await clock.advance(3000);
        const since = clock.now() - feed.downSinceMs;
        FakeSocket.last.drop();
        await clock.advance(5000);
        await hello();
        return [since, feed.downSinceMs];""",
    )
    assert since == 3000
    assert up is None


def test_after_a_long_absence_it_asks_for_no_more_than_15_minutes(blank: Page) -> None:
    asked = feed(
        blank,
        f"""await hello();
        await windows(1, [{NOW}]);
        FakeSocket.last.drop();
        await clock.advance(3 * {KEPT});
        await hello();
        return asked.at(-1)[1] - asked.at(-1)[0];""",
    )
    assert asked == KEPT


@pytest.mark.parametrize("code", [4401, 4404])
def test_a_refusal_is_reported_and_not_tried_again(blank: Page, code: int) -> None:
    refused, sockets = feed(
        blank,
        f"""FakeSocket.last.drop({code});
        await clock.advance(60_000);
        return [refused, FakeSocket.all.length];""",
    )
    assert (refused, sockets) == ([code], 1)


def test_a_stopped_feed_stays_stopped(blank: Page) -> None:
    sockets = feed(
        blank,
        """await hello();
        feed.stop();
        FakeSocket.last.drop();
        await clock.advance(60_000);
        return FakeSocket.all.length;""",
    )
    assert sockets == 1


def test_a_dead_connection_can_be_replaced_before_the_browser_notices(blank: Page) -> None:
    sockets, closed, connection = feed(
        blank,
        """await hello();
        const dead = FakeSocket.last;
        feed.reconnect();
        feed.reconnect();
        await clock.advance(500);
        dead.say({ type: "windows", seq: 1, ...batch([1]) });
        await hello();
        return [FakeSocket.all.length, dead.closed, feed.connection];""",
    )
    assert (sockets, closed, connection) == (2, True, "live")


def test_jitter_takes_away_at_most_half_of_a_wait(blank: Page) -> None:
    shortest, longest = run(
        blank,
        "core/backoff",
        """const waits = Array.from({ length: 400 }, (_, i) => m.backoffMs(i % 8));
        return [Math.min(...waits), Math.max(...waits)];""",
    )
    assert 250 <= shortest < 500
    assert 2500 < longest <= 5000
