"""GC pauses: what a JVM says of them becomes an activity, and is what its own GC log says."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from collectors.formats.activity import Activity, Kind
from collectors.formats.codec import Garbled
from collectors.formats.parts import Event, EventSource
from collectors.process.events import gc_pauses
from tests.collectors.metrics_recorder import MetricsRecorder, jvm, recorded_spark
from tests.waiting import until

SAID: dict[str, Any] = {
    "start_us": 1_794_819_657_814_000,
    "end_us": 1_794_819_657_818_000,
    "action": "end of minor GC",
    "cause": "G1 Evacuation Pause",
    "heap_before": 32_289_096,
    "heap_after": 28_190_760,
}

# [1794819657818ms] GC(3) Pause Young (Normal) (G1 Evacuation Pause) 24M->12M(100M) 4.321ms
LOGGED = re.compile(r"\[(\d+)ms\] GC\(\d+\) Pause (\w+) .* ([\d.]+)ms$", re.MULTILINE)
# The JVM has no notice of these two before Java 20.
UNTOLD = {"Remark", "Cleanup"}


def event(body: str, source: int = EventSource.GC) -> Event:
    return Event(source, 1_794_819_657_818_000, "G1 Young Generation", body)


def test_a_pause_is_an_activity_of_its_executor() -> None:
    assert gc_pauses.pause(event(json.dumps(SAID)), "7") == Activity(
        kind=Kind.GC,
        start_us=1_794_819_657_814_000,
        end_us=1_794_819_657_818_000,
        executor_id="7",
        name="G1 Young Generation",
        reason="G1 Evacuation Pause",
        input_bytes=32_289_096,
        output_bytes=28_190_760,
    )


@pytest.mark.parametrize(
    "body",
    [
        "",
        "[]",
        "null",
        "[" * 16_000,
        json.dumps({**SAID, "start_us": None}),
        json.dumps({**SAID, "start_us": -1}),
        json.dumps({**SAID, "end_us": SAID["start_us"] - 1}),
        json.dumps({**SAID, "end_us": 1e15}),
        json.dumps({**SAID, "end_us": 2**63}),
        json.dumps({**SAID, "heap_after": True}),
        json.dumps({key: SAID[key] for key in SAID if key != "heap_before"}),
    ],
)
def test_nonsense_is_garbled(body: str) -> None:
    with pytest.raises(Garbled):
        gc_pauses.pause(event(body), "7")


def test_an_event_of_another_source_is_garbled() -> None:
    with pytest.raises(Garbled):
        gc_pauses.pause(event(json.dumps(SAID), source=EventSource.ROCKSDB), "7")


@pytest.fixture(scope="module")
def recorder(tmp_path_factory: pytest.TempPathFactory) -> MetricsRecorder:
    return MetricsRecorder(tmp_path_factory.mktemp("gc"))


@pytest.fixture(scope="module")
def spark(recorder: MetricsRecorder) -> Iterator[SparkSession]:
    with recorded_spark(recorder) as session:
        yield session


def switch_gc_log(spark: SparkSession, path: Path, what: str) -> None:
    """At run time, as `jcmd VM.log` does: the JVM may have been started by another test."""
    java, gateway = jvm(spark), spark.sparkContext._gateway
    assert gateway

    def array(kind: Any, *items: Any) -> Any:
        made = gateway.new_array(kind, len(items))
        made[:] = items
        return made

    said = array(java.String, f"output=file={path}", f"what={what}", "decorators=timemillis")
    # The bean server's own class is not open to py4j, but its interface is.
    invoke = next(
        method
        for method in java.Class.forName("javax.management.MBeanServer").getMethods()
        if method.getName() == "invoke"
    )
    beans = java.java.lang.management.ManagementFactory.getPlatformMBeanServer()
    name = java.javax.management.ObjectName("com.sun.management:type=DiagnosticCommand")
    signature = array(java.String, "[Ljava.lang.String;")
    arguments = array(java.Object, said)
    invoke.invoke(beans, array(java.Object, name, "vmLog", arguments, signature))


def make_garbage(spark: SparkSession) -> None:
    """Some strings for each of a million rows, made and dropped in the JVM: no call for each."""
    spark.range(1_000_000).selectExpr("max(length(sha2(cast(id AS string), 512)))").collect()


def logged_ms(path: Path, also_untold: bool) -> list[tuple[int, float]]:
    """When each pause ended and how long it was, of those the JVM has a notice of."""
    found = LOGGED.findall(path.read_text() if path.exists() else "")
    return [
        (int(end), float(took)) for end, kind, took in found if also_untold or kind not in UNTOLD
    ]


@pytest.mark.spark
@pytest.mark.quiet
def test_pauses_are_those_of_the_gc_log(
    spark: SparkSession, recorder: MetricsRecorder, tmp_path: Path
) -> None:
    java, log = jvm(spark), tmp_path / "gc.log"
    tells_all = java.Runtime.version().feature() >= 20
    until(recorder.parts)
    switch_gc_log(spark, log, "gc=info")
    try:
        while len(logged_ms(log, tells_all)) < 10:
            make_garbage(spark)
        for _ in range(3):
            java.System.gc()
    finally:
        switch_gc_log(spark, log, "all=off")
    logged = logged_ms(log, tells_all)
    first_us = (logged[0][0] - 2 - logged[0][1]) * 1000

    def told() -> list[Activity]:
        events = [event for part in recorder.parts() for event in part.events]
        pauses = [
            gc_pauses.pause(event, "driver") for event in events if event.source == EventSource.GC
        ]
        return [pause for pause in pauses if pause.start_us >= first_us]

    until(lambda: len(told()) >= len(logged))
    pauses = told()
    assert len(pauses) == len(logged)
    told_ms = [(p.end_us / 1000, (p.end_us - p.start_us) / 1000) for p in pauses]
    # Both ends are cut to whole milliseconds. The log's pause begins earlier and ends later by what
    # the JVM does around a collection: nothing, unless a busy host takes its core away there.
    pairs = list(zip(told_ms, logged, strict=True))
    assert all(took < log_took + 1 for (_, took), (_, log_took) in pairs)
    agreed = [
        abs(took - log_took) <= 1 and abs(end - log_end) <= 2
        for (end, took), (log_end, log_took) in pairs
    ]
    assert sum(agreed) >= 0.8 * len(agreed)
    sides = zip(*(pair for pair, agree in zip(pairs, agreed, strict=True) if agree), strict=True)
    total_ms, log_total_ms = (sum(took for _, took in side) for side in sides)
    assert total_ms == pytest.approx(log_total_ms, rel=0.05, abs=len(logged))
    assert {pause.reason for pause in pauses} >= {"System.gc()"}
    assert sum(p.output_bytes or 0 for p in pauses) < sum(p.input_bytes or 0 for p in pauses)
