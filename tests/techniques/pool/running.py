"""A pool without Spark, as a test drives it, and what has to be gone when it has ended."""

import os
import signal
import uuid
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from techniques.pool import attachment, control
from techniques.pool.host.identity import Process
from techniques.pool.on_spark import made
from techniques.pool.page import READY, Page
from techniques.pool.page_words import InstanceWord
from techniques.pool.plan import Operator, Plan
from techniques.pool.task import through
from tests.waiting import until

# Beside other load a supervisor's imports alone can take many seconds.
PATIENCE_S = 120


def running(application: str, name: str) -> control.RunningPool:
    """The pool, as soon as it is up."""
    found = until(lambda: control.running(application, name), PATIENCE_S)
    assert found is not None
    return found


@dataclass
class Driven:
    plan: Plan
    application: str = field(default_factory=lambda: f"test-{uuid.uuid4().hex[:12]}")

    def results(
        self, batches: Iterable[pa.RecordBatch], **changes: Any
    ) -> Generator[pa.RecordBatch, None, None]:
        yield from through(self.application, replace(self.plan, **changes), batches)

    def rows(self, batches: Iterable[pa.RecordBatch], **changes: Any) -> list[dict[str, Any]]:
        return [row for made in self.results(batches, **changes) for row in made.to_pylist()]

    @property
    def running(self) -> control.RunningPool:
        return running(self.application, self.plan.name)

    @contextmanager
    def page(self) -> Iterator[Page]:
        page = self.running.page()
        try:
            yield page
        finally:
            page.close()

    def pid_of(self, instance: int) -> int:
        with self.page() as page:
            until(lambda: page.words[page.instance(instance)] == READY, PATIENCE_S)
            return page.words[page.instance(instance, InstanceWord.PID)]

    def supervisor(self) -> Process:
        with self.page() as page:
            return page.supervisor

    def end(self) -> None:
        attachment.forgotten()
        found = control.running(self.application, self.plan.name)
        if found is None:
            return
        with self.page() as page:
            supervisor = page.supervisor
            instances = [
                page.words[page.instance(one, InstanceWord.PID)] for one in range(page.instances)
            ]
        os.kill(supervisor.pid, signal.SIGTERM)
        until(lambda: not supervisor.lives(), PATIENCE_S)
        assert not os.path.exists(found.where)
        assert control.running(self.application, self.plan.name) is None
        until(lambda: not any(Process.of(pid) for pid in instances), PATIENCE_S)


@contextmanager
def driven(operator: Operator | list[Operator], **options: Any) -> Iterator[Driven]:
    # No room for more, so that the instances of a chain have the numbers 0, 1, … without holes.
    pool = Driven(made(operator, **{"most": options.get("instances", 4)} | options))
    try:
        yield pool
    finally:
        pool.end()
