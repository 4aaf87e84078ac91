"""Copies of tasks on three hosts: of late tasks alone, within the budget, and results stay exact.

One application runs through all tests, one after another; in the end what its queries put out and
the state they hold are compared, batch by batch, with those of the query that nobody copied.
"""

import json
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from redis import Redis

from collectors.formats.asked import State
from dashboard.cli import programs
from dashboard.cli.child import Program
from dashboard.testing.cluster import Cluster
from dashboard.testing.running import Running
from dashboard.testing.stack import redis_server
from tests.cluster import copied_job as job
from tests.cluster.copied_job import CHANGELOGS, QUERIES, REFERENCE, SINK, SNAPSHOTS, SOURCE, STATE
from tests.cluster.copied_tasks import Steered, Task
from tests.waiting import until

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.spark,
    pytest.mark.quiet,
    pytest.mark.timeout(1200),
]

HOSTS = 3
PATIENCE_S = 240
ALL_STAGES: Mapping[str, int] = {str(kind): 1 for kind in (SOURCE, STATE, SINK)}
FEWEST_BATCHES = 20
# More than tasks take that do not hang, unless the machine is busy.
HANG_TIMEOUT_MS = 800
BUDGET_PERCENT = 5.0
EXPECTED_MS = 30
# The lever looks every 20 ms or later how many tasks run, so it counts their time roughly.
COUNTED_RATIO = 1.5


@dataclass(frozen=True)
class Copied:
    cluster: Cluster
    running: Running
    out: Path
    queries: Mapping[str, Steered]

    def __getitem__(self, counting: job.Counting) -> Steered:
        return self.queries[counting.name]

    def batches(self, counting: job.Counting) -> int:
        return len(list(self.out.glob(f"{counting.name}-*.json")))

    def runs_on(self, counting: job.Counting, batches: int) -> None:
        enough = self.batches(counting) + batches
        self.wait(lambda: self.batches(counting) >= enough)

    def wait(self, condition: Callable[[], object], timeout_s: float = PATIENCE_S) -> None:
        def is_over() -> bool:
            for query in self.queries.values():
                query.renew()
            return bool(condition()) or not self.running.lives

        until(is_over, timeout_s, every_s=0.1)
        assert self.running.lives, self.running.said(60)


@pytest.fixture(scope="module")
def copied(three_hosts: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Copied]:
    out = tmp_path_factory.mktemp("copied")
    with redis_server() as redis:
        words = ("--out", str(out), "--conf", json.dumps(three_hosts.spark_options))
        argv = (sys.executable, "-m", job.__name__, *words, "--redis", redis.url)
        env = programs.environ(os.environ, **programs.same_python())
        with Running(Program(job.NAME, argv, env, out / "driver.log")) as running:
            client = Redis.from_url(redis.url)
            queries = {each.name: Steered(client, each.name) for each in QUERIES}
            made = Copied(three_hosts, running, out, queries)
            for each in QUERIES:
                made.runs_on(each, 2)
            yield made


def now_ms() -> float:
    return time.time() * 1000


def test_copies_stay_within_their_budget_and_leave_the_sink_out(copied: Copied) -> None:
    asked_ms = now_ms()
    stages = (str(SOURCE), str(SINK))
    said = copied[SNAPSHOTS].ask(
        timeouts_ms=dict.fromkeys(stages, 1),
        costs_ms=dict.fromkeys(stages, EXPECTED_MS),
        budget_percent=BUDGET_PERCENT,
    )
    assert (said.state, said.because) == (State.APPLIED, "")
    copied.wait(lambda: len(copied[SNAPSHOTS].copies(asked_ms)) >= 3)
    copied[SNAPSHOTS].off()

    copies, others = split(copied[SNAPSHOTS].tasks(asked_ms))
    assert {task.kind for task in copies} == {SOURCE}
    # The first one needs no credit. What each really took is charged to those that begin later.
    for copy in copies:
        spent_ms = sum(each.ms for each in copies if each.end_ms <= original(others, copy).start_ms)
        worked_ms = sum(worked_until(each, copy.start_ms) for each in others)
        assert spent_ms <= BUDGET_PERCENT / 100 * worked_ms * COUNTED_RATIO
    # Nearly every task was late.
    assert len(copies) < len(others) / 3
    assert not copied[REFERENCE].copies()
    assert not copied[CHANGELOGS].copies()


def test_a_task_that_hangs_is_overtaken_by_its_copy(copied: Copied) -> None:
    timeouts = {str(SOURCE): HANG_TIMEOUT_MS}
    assert copied[SNAPSHOTS].ask(timeouts_ms=timeouts, costs_ms={}, budget_percent=100).state == (
        State.APPLIED
    )
    asked_ms = now_ms()
    hang_on(copied, SNAPSHOTS, copied.cluster.workers[0].host)
    # On a busy machine others are late as well, but they end by themselves.
    copied.wait(lambda: not job.hang_file(copied.out, SNAPSHOTS.name).exists())
    copied.wait(lambda: overtakings(copied[SNAPSHOTS], asked_ms))
    copy, overtaken = overtakings(copied[SNAPSHOTS], asked_ms)[0]

    assert copy.executor != overtaken.executor
    assert copy.start_ms - overtaken.start_ms > HANG_TIMEOUT_MS
    # It is not waited for: the batch goes on, as long after the timeout as tasks take anyway.
    _, others = split(copied[SNAPSHOTS].tasks(asked_ms))
    longest_ms = max(task.ms for task in others if task.successful)
    assert copy.end_ms - overtaken.start_ms <= HANG_TIMEOUT_MS + 1_000 + 3 * longest_ms
    copied[SNAPSHOTS].off()


def test_what_is_switched_off_makes_no_more_copies(copied: Copied) -> None:
    asked_ms = now_ms()
    copied[CHANGELOGS].ask(timeouts_ms=ALL_STAGES, costs_ms=ALL_STAGES, budget_percent=100)
    copied.wait(lambda: copied[CHANGELOGS].copies(asked_ms))
    copied[CHANGELOGS].off()
    off_ms = now_ms()
    copied.runs_on(CHANGELOGS, 4)

    # A copy that was made before may have waited for a slot.
    copies, others = split(copied[CHANGELOGS].tasks(asked_ms))
    assert not [copy for copy in copies if original(others, copy).start_ms > off_ms]


def test_state_that_attempts_share_files_of_gets_no_copies(copied: Copied) -> None:
    copied[REFERENCE].ask(timeouts_ms={str(STATE): 1}, costs_ms={}, budget_percent=100)
    copied.wait(lambda: copied[REFERENCE].state().state == State.REFUSED)

    assert "checkpointFormatVersion=2" in copied[REFERENCE].state().because
    copied.runs_on(REFERENCE, 2)
    assert not copied[REFERENCE].copies()
    copied[REFERENCE].off()


def test_with_many_copies_moves_and_a_killed_executor_results_are_those_without(
    copied: Copied,
) -> None:
    """State moves while copies of its tasks run. Techniques do not do both at once, because the
    next batch runs a partition where a copy ran; results would not suffer from it."""
    asked_ms = now_ms()
    for executor in sorted(copied.cluster.executors()):
        moved_ms = now_ms()
        for each in (SNAPSHOTS, CHANGELOGS):
            copied[each].ask(
                places=dict.fromkeys(range(job.TASKS[STATE]), executor),
                timeouts_ms=ALL_STAGES,
                costs_ms=ALL_STAGES,
                budget_percent=100,
                sink=True,
            )
        for each in (SNAPSHOTS, CHANGELOGS):
            copied.wait(partial(all_were_on, copied, each, executor, moved_ms))
    for each in (SNAPSHOTS, CHANGELOGS):
        copied.wait(partial(raced, copied, each, asked_ms))
    os.kill(sorted(copied.cluster.executors().items())[0][1], signal.SIGKILL)
    killed_ms = now_ms()
    for each in (SNAPSHOTS, CHANGELOGS):
        copied.wait(partial(raced, copied, each, killed_ms))
    copied.wait(lambda: len(copied.cluster.executors()) == HOSTS)
    copied.wait(lambda: min(copied.batches(each) for each in QUERIES) > FEWEST_BATCHES)
    (copied.out / job.END).touch()
    states = copied.out / job.STATES
    until(lambda: states.exists() or not copied.running.lives, PATIENCE_S)
    assert states.exists(), copied.running.said(60)

    put_out = {each.name: results(copied, each) for each in QUERIES}
    batches = min(map(len, put_out.values()))
    assert batches > FEWEST_BATCHES
    for each in (SNAPSHOTS, CHANGELOGS):
        for batch in range(batches):
            assert put_out[each.name][batch] == put_out[REFERENCE.name][batch]
    held = json.loads(states.read_text())
    assert len(held[REFERENCE.name]) == job.KEYS
    assert held[SNAPSHOTS.name] == held[CHANGELOGS.name] == held[REFERENCE.name]


def split(tasks: list[Task]) -> tuple[list[Task], list[Task]]:
    """Copies, and all others."""
    return [task for task in tasks if task.copy], [task for task in tasks if not task.copy]


def hang_on(copied: Copied, counting: job.Counting, host: str) -> None:
    path = job.hang_file(copied.out, counting.name)
    part = path.with_suffix(".part")
    part.write_text(host)
    part.replace(path)


def original(others: list[Task], copy: Task) -> Task:
    """The attempt that it is a copy of."""
    of = (copy.stage, copy.partition)
    return next(each for each in others if (each.stage, each.partition) == of)


def overtakings(query: Steered, since_ms: float) -> list[tuple[Task, Task]]:
    """Copies that came first, each with the attempt that would have hung for ever."""
    copies, others = split(query.tasks(since_ms))
    ended = {(each.stage, each.partition) for each in others}
    over = [copy for copy in copies if copy.successful and (copy.stage, copy.partition) in ended]
    found = [(copy, original(others, copy)) for copy in over]
    return [(copy, task) for copy, task in found if not task.successful]


def worked_until(task: Task, at_ms: float) -> float:
    return max(0.0, min(task.end_ms, at_ms) - task.start_ms)


def all_were_on(copied: Copied, counting: job.Counting, executor: str, since_ms: float) -> bool:
    """Whether the original task of each state partition ran there since then."""
    _, others = split(copied[counting].tasks(since_ms))
    there = [task for task in others if task.kind == STATE and task.executor == executor]
    return {task.partition for task in there} == set(range(job.TASKS[STATE]))


def raced(copied: Copied, counting: job.Counting, since_ms: float) -> bool:
    """Whether tasks that have state were copied often enough, either attempt won, and some state
    was committed by both."""
    copies = [task for task in copied[counting].copies(since_ms) if task.kind == STATE]
    won = sum(task.successful for task in copies)
    return len(copies) >= 8 and 1 <= won < len(copies) and committed_twice(copied.out, counting)


def committed_twice(out: Path, counting: job.Counting) -> bool:
    """Whether a version of a state partition has files of two attempts: `<version>_<id>.zip`."""
    partitions = Path(job.checkpoint(out, counting.name), "state", "0").glob("[0-9]*")
    suffix = "changelog" if counting == CHANGELOGS else "zip"
    files = [file for partition in partitions for file in partition.glob(f"*_*.{suffix}")]
    versions = Counter((file.parent, file.name.split("_")[0]) for file in files)
    return max(versions.values()) > 1


def results(copied: Copied, counting: job.Counting) -> list[object]:
    files = sorted(copied.out.glob(f"{counting.name}-*.json"))
    return [json.loads(file.read_text()) for file in files]
