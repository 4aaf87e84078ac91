"""Keeps what the probe tells the collector, and decodes what of it is about tasks."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from collectors.formats import activity, wire
from collectors.formats.wire import WINDOW_MS, Frame
from collectors.process.assembly import CLOSES_AFTER_MS, Assembler, Closed, Running
from collectors.process.events.task_messages import (
    StageWait,
    TaskRecord,
    Traffic,
    decode_executor,
    decode_tasks,
    decode_traffic,
)
from collectors.process.link import MessageKind
from dashboard.series.history import History
from techniques.view import View
from tests.collectors.conftest import spark_session
from tests.collectors.message_recorder import MessageRecorder
from tests.waiting import until


class TaskRecorder(MessageRecorder):
    def tasks(self, query: StreamingQuery | None) -> list[TaskRecord]:
        query_id = query.id if query else ""
        told = (decode_tasks(message.payload) for message in self.messages(MessageKind.TASKS))
        return [r for tasks in told for r in tasks.records if r.stage.query_id == query_id]

    def stages(self, query: StreamingQuery | None) -> list[StageWait]:
        query_id = query.id if query else ""
        told = (decode_tasks(message.payload) for message in self.messages(MessageKind.TASKS))
        return [s for tasks in told for s in tasks.stages if s.stage.query_id == query_id]

    def traffic(self, query: StreamingQuery) -> list[Traffic]:
        told = (decode_traffic(message.payload) for message in self.messages(MessageKind.TRAFFIC))
        return [traffic for traffic in told if traffic.stage.query_id == query.id]

    def frames(self, query: StreamingQuery) -> list[Frame]:
        """What the collector makes of it, from the first task to the last."""
        return [each.frame for each in self._closed(query)]

    def view(self, query: StreamingQuery, until_ms: int = 0) -> View:
        """What a worker makes of the collector's bytes, from the first task to the last or on until
        `until_ms`. A worker leaves out the warm-up; here nothing is."""
        closed = self._closed(query, until_ms)
        history = History(len(closed))
        for each in closed:
            frame = wire.decode(wire.encode(replace(each.frame, warming_up=False)))
            history.add([frame], activity.decode(activity.encode(each.activities)))
        return history.view()

    def _closed(self, query: StreamingQuery, until_ms: int = 0) -> list[Closed]:
        tasks = self.tasks(query)
        first_ms = min(record.launch_ms for record in tasks)
        last_ms = max(until_ms, *(record.finish_ms for record in tasks))
        made = Assembler(first_ms)
        made.start(Running(query.id, query.runId, "kept"))
        for part in self.parts():
            made.add_part(part, part.window * WINDOW_MS)
        for message in self.messages(MessageKind.TASKS):
            made.add_tasks(decode_tasks(message.payload))
        for message in self.messages(MessageKind.EXECUTORS):
            made.add_executor(decode_executor(message.payload))
        closes_ms = last_ms + WINDOW_MS + CLOSES_AFTER_MS
        times_ms = range(first_ms, closes_ms + WINDOW_MS, WINDOW_MS)
        return [each for now_ms in times_ms for each in made.close(now_ms, 0)]

    def until_over(self, query: StreamingQuery | None, stages: int = 1) -> None:
        """Every stage seen is complete and every task that began has ended."""

        def over() -> bool:
            completed = {s.stage for s in self.stages(query) if s.completed_ms}
            seen = {s.stage for s in self.stages(query)}
            tasks = self.tasks(query)
            began = {r.task_id for r in tasks if not r.ended}
            return len(seen) >= stages and seen == completed and began == ended_ids(tasks)

        until(over, timeout_s=60, every_s=0.2)


def whole(query: StreamingQuery) -> range:
    """The batches that `stop` did not cut off."""
    progress = query.lastProgress
    return range(progress.batchId + 1 if progress else 0)


def ended_ids(tasks: list[TaskRecord]) -> set[int]:
    return {record.task_id for record in tasks if record.ended}


@contextmanager
def watched_session(kept: TaskRecorder, **options: str) -> Iterator[SparkSession]:
    with spark_session("redis://127.0.0.1:1/0", **kept.options, **options) as session:
        yield session
