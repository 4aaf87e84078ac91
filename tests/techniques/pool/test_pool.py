"""A pool of real processes, driven without Spark."""

import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa
import pytest

from techniques.pool import attachment, control
from techniques.pool.deaths import InstancesDied, OperatorNotLoaded
from techniques.pool.host.identity import Process
from techniques.pool.host.meeting_place import PREFIX, YOUNG_S, Meeting, sweep
from techniques.pool.on_spark import made
from techniques.pool.owner import OperatorFailed
from techniques.pool.page import INSTANCE_WORDS, Page
from techniques.pool.page_words import HeaderWord, InstanceWord, SlotWord
from techniques.pool.plan import Operator
from tests.techniques.pool import endless, operators
from tests.techniques.pool.operators import rows
from tests.techniques.pool.running import PATIENCE_S, Driven, driven, running
from tests.waiting import until

INSTANCES = 3
CHUNK_ROWS = 10


@pytest.fixture(scope="module")
def pool() -> Iterator[Driven]:
    with driven(
        operators.act, instances=INSTANCES, chunk_rows=CHUNK_ROWS, name="acts", memory_mb=16
    ) as started:
        yield started


@pytest.fixture(scope="module")
def chain() -> Iterator[Driven]:
    with driven(
        [operators.act, operators.add_one], instances=[2, 1], chunk_rows=CHUNK_ROWS, name="chain"
    ) as started:
        yield started


def ids_of(found: list[dict[str, Any]]) -> list[int]:
    return sorted(row["id"] for row in found)


def all_up(pool: Driven) -> None:
    pool.rows([rows(10)])
    for one in range(pool.plan.instances):
        pool.pid_of(one)


def test_every_row_comes_back_once_with_its_result(pool: Driven) -> None:
    found = pool.rows([rows(1000)])
    assert ids_of(found) == list(range(1000))
    assert all(row["twice"] == 2 * row["id"] for row in found)


def test_all_instances_get_their_turn(pool: Driven) -> None:
    for instance in range(INSTANCES):
        pool.pid_of(instance)
    found = pool.rows([rows(300)])
    assert {row["by"] for row in found} == {f"act-{one}" for one in range(INSTANCES)}


def test_results_leave_in_order_if_asked(pool: Driven) -> None:
    slow_first = dict.fromkeys(range(0, 1000, 97), operators.SLEEP)
    found = pool.rows([rows(500, slow_first), rows(500)], ordered=True)
    assert [row["id"] for row in found] == [*range(500), *range(500)]


def test_an_empty_batch_is_worked_on_too(pool: Driven) -> None:
    (found,) = pool.results([rows(0)])
    assert found.num_rows == 0
    assert "twice" in found.schema.names


def test_no_batches_need_no_pool() -> None:
    idle = Driven(made(operators.act, name="nothing"))
    assert idle.rows([]) == []
    assert control.running(idle.application, idle.plan.name) is None


def test_an_exception_reaches_the_task_with_the_users_traceback(pool: Driven) -> None:
    with pytest.raises(OperatorFailed) as failed:
        pool.rows([rows(50, {33: operators.RAISE}, "thirty-three")])
    told = str(failed.value)
    assert "OddError: no such luck: thirty-three" in told
    assert "in deeper" in told
    assert "operators.py" in told
    assert "techniques/pool/instance.py" not in told
    # And the pool goes on.
    assert len(pool.rows([rows(50)])) == 50


def test_an_operator_that_returns_something_else_is_told_so(pool: Driven) -> None:
    with pytest.raises(OperatorFailed, match=r"returns a pyarrow\.RecordBatch, not list"):
        pool.rows([rows(1, {0: operators.NO_BATCH})])


def test_a_result_larger_than_any_ring_comes_through(pool: Driven) -> None:
    with pool.page() as page:
        assert page.words[HeaderWord.RING_BYTES] < operators.LARGE_BYTES
    found = pool.rows([rows(1, {0: operators.BE_LARGE})])
    assert len(found[0]["by"]) == operators.LARGE_BYTES
    assert not list(Path(pool.running.where).glob("spilled-*"))


def test_the_chunks_of_a_killed_instance_are_handed_out_again(pool: Driven) -> None:
    """Killed by its parent's side, again and again, while chunks are in its queue."""
    for one in range(INSTANCES):
        pool.pid_of(one)
    slow = dict.fromkeys(range(0, 2000, 5), operators.SLEEP)
    found = []
    for number, batch in enumerate(pool.results([rows(2000, slow)])):
        found += batch.to_pylist()
        if number in (5, 40, 80):
            os.kill(pool.pid_of(number % INSTANCES), signal.SIGKILL)
    assert ids_of(found) == list(range(2000))


def test_an_instance_killed_in_the_middle_of_a_chunk_loses_nothing(
    pool: Driven, tmp_path: Path
) -> None:
    found = pool.rows([rows(200, {77: operators.DIE_ONCE}, str(tmp_path / "died"))])
    assert (tmp_path / "died").exists()
    assert ids_of(found) == list(range(200))


def test_a_chunk_that_kills_whoever_works_on_it_fails_the_task(pool: Driven) -> None:
    with pytest.raises(InstancesDied, match="died while they worked on one chunk"):
        pool.rows([rows(30, {15: operators.EXIT})])
    assert len(pool.rows([rows(50)])) == 50


def test_a_killed_supervisor_takes_its_instances_along_and_the_next_pool_gets_the_chunks(
    pool: Driven,
) -> None:
    before = pool.supervisor()
    instances = [pool.pid_of(one) for one in range(INSTANCES)]
    where = pool.running.where
    slow = dict.fromkeys(range(0, 1000, 5), operators.SLEEP)
    found = []
    for number, batch in enumerate(pool.results([rows(1000, slow)])):
        found += batch.to_pylist()
        if number == 20:
            os.kill(before.pid, signal.SIGKILL)
    assert ids_of(found) == list(range(1000))
    assert pool.supervisor() != before
    assert not any(os.path.exists(f"/proc/{pid}") for pid in instances)
    assert not os.path.exists(where)


def test_a_slow_reader_of_results_holds_up_nobody_else(pool: Driven) -> None:
    """The first task leaves its results lying; the second one uses the same instances."""
    first = pool.results([rows(5000)], window=2000)
    next(first)
    assert ids_of(pool.rows([rows(500)])) == list(range(500))
    rest = [row["id"] for made in first for row in made.to_pylist()]
    assert len(rest) + CHUNK_ROWS == 5000


def test_the_results_of_a_cancelled_task_are_nobodys(pool: Driven) -> None:
    cancelled = pool.results([rows(5000, dict.fromkeys(range(20), operators.SLEEP))])
    next(cancelled)
    cancelled.close()
    found = pool.rows([rows(300)])
    assert ids_of(found) == list(range(300))


def test_a_chain_runs_each_operator_on_its_own_instances(chain: Driven) -> None:
    found = chain.rows([rows(400)])
    assert ids_of(found) == list(range(400))
    assert all(row["twice"] == 2 * row["id"] + 1 for row in found)
    with chain.page() as page:
        words = page.words
        first, second, last = (words[page.instance(one, InstanceWord.EXECUTED)] for one in range(3))
        assert (first + second, last) == (40, 40)
        # Who sent what to whom: tasks to both of the first, these to the last.
        assert [words[page.pair(0, one)] for one in range(3)] == [first, second, 0]
        assert [words[page.pair(source, 2)] for source in (1, 2)] == [first, second]


def test_a_killed_instance_further_down_a_chain_loses_nothing(chain: Driven) -> None:
    slow = dict.fromkeys(range(0, 2000, 9), operators.SLEEP)
    found = []
    for number, batch in enumerate(chain.results([rows(2000, slow)])):
        found += batch.to_pylist()
        if number in (3, 50, 120):
            os.kill(chain.pid_of(2), signal.SIGKILL)
        if number == 90:
            os.kill(chain.pid_of(0), signal.SIGKILL)
    assert ids_of(found) == list(range(2000))


def test_memory_stays_below_its_bound(pool: Driven) -> None:
    """Rings, spilled messages and what tasks hold, while chunks come faster than they are done."""
    bound = pool.plan.memory_bytes
    held: list[int] = []
    text = "y" * 40_000

    def batches() -> Iterator[pa.RecordBatch]:
        for _ in range(60):
            yield rows(CHUNK_ROWS, {0: operators.SLEEP}, text)
            with pool.page() as page:
                kept = page.held_bytes()
            held.append(kept + _files_bytes(pool.running.where))

    found = pool.rows(batches(), window=1000)
    assert len(found) == 60 * CHUNK_ROWS
    # It was filled, or there was nothing to see.
    assert bound / 8 < max(held) < bound


def _files_bytes(where: str) -> int:
    total = 0
    for entry in os.scandir(where):
        try:
            total += entry.stat().st_size
        except FileNotFoundError:
            continue
    return total


def test_the_policy_is_switched_on_the_running_pool(pool: Driven) -> None:
    all_up(pool)
    assert pool.running.policy() == "round-robin"
    results = pool.results([rows(100, dict.fromkeys(range(100), operators.SLEEP))] * 8)
    with pool.page() as page:
        next(results)
        version = pool.running.switch("fewest-queued")
        # The task looks at the word with every chunk, and sends one when there is room.
        until(lambda: next(results) and page.seen_by_all(version), PATIENCE_S, every_s=0)
        assert sum(1 for _ in results) > 0
    assert pool.running.policy() == "fewest-queued"
    pool.running.switch("round-robin")
    with pytest.raises(ValueError, match="no policy 'best'"):
        pool.running.switch("best")


def switch_s(pool: Driven, page: Page, policy: str) -> float:
    """Until nobody in the pool chooses by what was in force before."""
    began_s = time.monotonic()
    version = pool.running.switch(policy)
    until(lambda: page.seen_by_all(version), PATIENCE_S, every_s=0.001)
    return time.monotonic() - began_s


def seen(page: Page) -> set[int]:
    at = [page.instance(one, InstanceWord.CONTROL_SEEN) for one in range(page.instances)]
    return {page.words[one] for one in at}


@pytest.mark.quiet
def test_an_idle_pool_notes_a_switch_within_200_ms(chain: Driven) -> None:
    all_up(chain)
    with chain.page() as page:
        took_s = []
        for policy in ["fewest-queued", "round-robin"] * 4:
            took_s.append(switch_s(chain, page, policy))
            assert seen(page) == {page.control[0]}
    assert median(took_s) <= 0.2


def test_a_switch_waits_for_no_task_that_is_away_and_for_no_operator(chain: Driven) -> None:
    slow = rows(100, dict.fromkeys(range(100), operators.SLEEP))
    results = chain.results([slow] * 4, window=3)
    next(results)
    with chain.page() as page:
        # Nobody asks the task for more, so it cannot look; its chunks are in the pool.
        [task] = [slot for slot in page.holders() if page.words[page.slot(slot, SlotWord.CHUNKS)]]
        before = page.words[page.slot(task, SlotWord.CONTROL_SEEN)]
        switch_s(chain, page, "fewest-queued")
        assert page.words[page.slot(task, SlotWord.CONTROL_SEEN)] == before
        at, version = page.slot(task, SlotWord.CONTROL_SEEN), page.control[0]
        # Results that came together leave one by one before it looks again.
        until(lambda: next(results) and page.words[at] == version, PATIENCE_S, every_s=0)
    assert sum(batch.num_rows for batch in results) > 0
    chain.running.switch("round-robin")


def test_a_switch_waits_for_an_instance_that_could_still_choose(chain: Driven) -> None:
    all_up(chain)
    pid = chain.pid_of(0)
    with chain.page() as page:
        until(lambda: page.seen_by_all(page.control[0]), PATIENCE_S)
        os.kill(pid, signal.SIGSTOP)
        try:
            version = chain.running.switch("fewest-queued")
            at = [page.instance(one, InstanceWord.CONTROL_SEEN) for one in (1, 2)]
            until(lambda: all(page.words[one] == version for one in at), PATIENCE_S)
            assert not page.seen_by_all(version)
        finally:
            os.kill(pid, signal.SIGCONT)
        until(lambda: page.seen_by_all(version), PATIENCE_S)
    chain.running.switch("round-robin")


def test_the_page_tells_what_the_instances_did(pool: Driven) -> None:
    with pool.page() as page:
        words = page.words
        before = [words[page.instance(one, InstanceWord.EXECUTED)] for one in range(INSTANCES)]
        latencies = [sum(page.latencies(one).values()) for one in range(INSTANCES)]
        pool.rows([rows(300, {0: operators.SLEEP})])
        executed = [words[page.instance(one, InstanceWord.EXECUTED)] for one in range(INSTANCES)]
        assert sum(executed) - sum(before) == 30
        counted = [sum(page.latencies(one).values()) for one in range(INSTANCES)]
        assert sum(counted) - sum(latencies) == 30
        assert page.operator_name(0) == "act"
        assert all(
            words[page.instance(one, InstanceWord.BUSY_SINCE)] == 0 for one in range(INSTANCES)
        )
        assert page.pair(0, 0) == page.instance(0, INSTANCE_WORDS)


def test_an_operator_that_cannot_be_loaded_fails_the_task_with_its_traceback() -> None:
    chain: list[Operator] = [operators.act, operators.Broken()]
    with driven(chain, instances=1, name="broken") as pool:
        with pytest.raises(OperatorNotLoaded) as failed:
            pool.rows([rows(1)])
        assert "OSError: the model is not there" in str(failed.value)


def test_a_pool_that_nobody_uses_ends_by_itself(capfd: pytest.CaptureFixture[str]) -> None:
    with driven(operators.Warmed(), instances=1, chunk_rows=1, name="idle", idle_s=1) as pool:
        found = pool.rows([rows(5, note="hello\nworld")])
        # It was warmed up once for all its chunks.
        assert [row["warmed"] for row in found] == [1] * 5
        supervisor, where = pool.supervisor(), pool.running.where
        until(lambda: not supervisor.lives(), PATIENCE_S)
        assert not os.path.exists(where)
        # What an instance prints carries its name.
        printed = capfd.readouterr().err
        assert printed.count("[idle/Warmed-0] hello\n[idle/Warmed-0] world\n") == 10
        assert "[idle] the pool ends: not used for 1 s" in printed
        # And it is there again when it is needed, also for who still holds on to the old one.
        assert len(pool.rows([rows(7)])) == 7


def test_a_pool_ends_when_who_it_works_for_is_killed_under_load() -> None:
    application = f"test-{uuid.uuid4().hex[:12]}"
    user = subprocess.Popen([sys.executable, "-m", endless.__name__, application])
    try:
        found = running(application, endless.NAME)
        page = found.page()
        try:
            until(lambda: page.words[page.instance(0, InstanceWord.EXECUTED)] > 5, PATIENCE_S)
            supervisor, instance = page.supervisor, page.words[page.instance(0, InstanceWord.PID)]
        finally:
            page.close()
    finally:
        user.kill()
        user.wait()
    until(lambda: not supervisor.lives(), PATIENCE_S)
    assert Process.of(instance) is None
    assert not os.path.exists(found.where)


def test_tasks_at_the_same_time_share_one_pool(pool: Driven) -> None:
    supervisor = pool.supervisor()
    found: list[list[dict[str, Any]]] = [[] for _ in range(3)]

    def drive(at: int) -> None:
        found[at] = pool.rows([rows(300)])

    threads = [threading.Thread(target=drive, args=(at,)) for at in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(ids_of(each) == list(range(300)) for each in found)
    assert pool.supervisor() == supervisor


def test_the_slot_of_a_killed_task_is_free_again(pool: Driven, tmp_path: Path) -> None:
    """A process of its own takes a slot, fills its ring with results, and is killed."""
    pool.rows([rows(1)])
    attachment.forgotten()
    pid = os.fork()
    if pid == 0:
        results = pool.results([rows(20_000)], window=2000)
        next(results)
        (tmp_path / "begun").touch()
        signal.pause()
    until((tmp_path / "begun").exists, PATIENCE_S)
    with pool.page() as page:
        assert pid in [page.holder(slot).pid for slot in page.holders()]
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        until(lambda: pid not in [page.holder(slot).pid for slot in page.holders()], PATIENCE_S)
    assert not list(Path(pool.running.where).glob("spilled-*"))
    assert ids_of(pool.rows([rows(100)])) == list(range(100))


def test_what_dead_pools_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    own = Process.this()
    kinds = {
        "dead": f"{own.pid} {own.started - 1}",
        "living": f"{own.pid} {own.started}",
        "starting": None,
        "never-started": None,
    }
    for name, supervisor in kinds.items():
        folder = tmp_path / f"{PREFIX}{name}"
        folder.mkdir()
        if supervisor is not None:
            (folder / "supervisor").write_text(supervisor)
    old_s = time.time() - 2 * YOUNG_S
    os.utime(tmp_path / f"{PREFIX}never-started", (old_s, old_s))
    (tmp_path / "somebody-elses").mkdir()
    sweep(str(tmp_path))
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        f"{PREFIX}living",
        f"{PREFIX}starting",
        "somebody-elses",
    ]


def test_a_meeting_place_of_somebody_else_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    root = tmp_path / f"curtail-pools-{os.getuid()}"
    root.mkdir(mode=0o700)
    root.chmod(0o777)
    with pytest.raises(Exception, match="others may write to it"):
        Meeting.of("app", "name", "digest")


def test_latency_buckets_of_two_looks_differ_by_what_happened_between(pool: Driven) -> None:
    with pool.page() as page:
        looks = []
        for _ in range(3):
            pool.rows([rows(100)])
            looks.append(sum(sum(page.latencies(one).values()) for one in range(INSTANCES)))
    assert [later - earlier for earlier, later in pairwise(looks)] == [10, 10]
