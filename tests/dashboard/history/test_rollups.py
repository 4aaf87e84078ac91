"""Roll-ups against what `collectors.formats` says about the same frames, one by one."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.formats import buckets, latency
from collectors.formats.buckets import Histogram, merged
from collectors.formats.codec import Reader
from collectors.formats.keys import Entry
from collectors.formats.metrics import BY_NAME
from collectors.formats.state_sizes import StateSize
from collectors.formats.wire import Batch, ExecutorSample, Frame, TaskCounts, encode
from dashboard.history import sections
from dashboard.history.rollups import coarser, seconds, seconds_of
from tests.factories import RUN_ID, START_MS, frame

HOST_CPU, PROCESS_CPU = BY_NAME["host_cpu"].id, BY_NAME["process_cpu_us"].id
MINUTE_MS, HOUR_MS = 60_000, 3_600_000

latencies = st.lists(st.integers(0, 2**40), max_size=8)
batches = st.builds(
    Batch,
    batch_id=st.integers(0, 9),
    start_ms=st.integers(START_MS, START_MS + 1000),
    duration_ms=st.integers(0, 10_000_000),
    rows_in=st.integers(0, 500),
)
samples = st.builds(
    ExecutorSample,
    executor_id=st.sampled_from(("1", "2", "driver")),
    host=st.sampled_from(("node-a", "node-b")),
    metrics=st.dictionaries(st.sampled_from((HOST_CPU, PROCESS_CPU)), st.integers(-5, 10**6)),
)


@st.composite
def some_frames(draw: st.DrawFn) -> list[Frame]:
    """Frames of up to three hours, most of them near each other, with holes between them."""
    steps = draw(st.lists(st.sampled_from((1, 1, 1, 7, 30, 1500, 60_000)), max_size=12))
    at, found = draw(st.integers(0, 100_000)), []
    for step in steps:
        at += step
        stamped = draw(st.booleans())
        found.append(
            frame(
                at,
                run_id=draw(st.sampled_from((RUN_ID, UUID(int=7)))),
                latency=Histogram.of(draw(latencies)) if stamped else Histogram(),
                stamped=stamped,
                committed=Histogram.of(draw(latencies)),
                batches=tuple(draw(st.lists(batches, max_size=2))),
                executors=tuple(draw(st.lists(samples, max_size=3))),
                backlog_rows=draw(st.none() | st.integers(0, 10**9)),
                tasks=TaskCounts(draw(st.integers(0, 9)), draw(st.integers(0, 900))),
            )
        )
    return found


def grouped(frames: Sequence[Frame], step_ms: int) -> Iterator[tuple[int, list[Frame]]]:
    for at in sorted({each.start_ms // step_ms for each in frames}):
        yield at * step_ms, [each for each in frames if each.start_ms // step_ms == at]


def decoded(column: bytes) -> Histogram:
    return buckets.read(Reader(column))


def highest(frames: Sequence[Frame], metric: int, by: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for sample in (sample for each in frames for sample in each.executors):
        if (value := sample.metrics.get(metric)) is not None:
            name = getattr(sample, by)
            found[name] = max(value, found.get(name, value))
    return found


def expected(at_ms: int, frames: Sequence[Frame]) -> dict[str, object]:
    source = latency.source_of(frames)
    each = [latency.of(one, source) for one in frames]
    whole = merged(each)
    quantiles = whole.quantiles_us((0.5, 0.9, 0.95, 0.99, 0.999, 1.0))
    names = ("p50_us", "p90_us", "p95_us", "p99_us", "p999_us", "max_us")
    ended = [batch for one in frames for batch in one.batches]
    p99s = [us for one in each if (us := one.quantiles_us([0.99])[0]) is not None]
    return {
        "at_ms": at_ms,
        "windows": len(frames),
        "source": str(source),
        "records": whole.count,
        **dict(zip(names, quantiles, strict=True)),
        "worst_p99_us": max(p99s, default=None),
        "batches": len(ended),
        "longest_batch_ms": max((batch.duration_ms for batch in ended), default=None),
        "rows_in": sum(batch.rows_in for batch in ended),
        "backlog_rows": max(
            (one.backlog_rows for one in frames if one.backlog_rows is not None), default=None
        ),
        "running": max(one.tasks.running for one in frames),
        "waiting": max(one.tasks.waiting for one in frames),
        "host_cpu": highest(frames, HOST_CPU, "host"),
        "process_cpu": highest(frames, PROCESS_CPU, "executor_id"),
        "latency": whole.counts,
        "committed": merged(one.committed for one in frames).counts,
        "release": str(frames[-1].run_id),
    }


def rows(rolled: pa.Table) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = rolled.to_pylist()
    for row in found:
        row["latency"] = decoded(row["latency"]).counts
        row["committed"] = decoded(row["committed"]).counts
        row["host_cpu"], row["process_cpu"] = dict(row["host_cpu"]), dict(row["process_cpu"])
    return found


@given(some_frames())
def test_every_step_says_what_its_frames_say(frames: list[Frame]) -> None:
    rolled = seconds(frames)
    for step_ms in (1_000, MINUTE_MS, HOUR_MS):
        rolled = coarser(rolled, step_ms)
        found = rows(rolled)
        wanted = [expected(*group) for group in grouped(frames, step_ms)]
        assert [{name: row[name] for name in wanted[0]} for row in found] == wanted


@given(some_frames(), st.data())
def test_rolling_up_in_any_grouping_gives_the_same(
    frames: list[Frame], data: st.DataObject
) -> None:
    second_s = [each for _, each in grouped(frames, 1_000)]
    cuts = sorted(data.draw(st.sets(st.integers(0, len(second_s)))) | {0, len(second_s)})
    pieces = [
        seconds([one for group in second_s[start:end] for one in group])
        for start, end in pairwise(cuts)
    ]
    at_once = seconds(frames)
    if not pieces:
        return
    in_pieces = pa.concat_tables(pieces)
    assert in_pieces.equals(at_once)
    assert coarser(coarser(in_pieces, MINUTE_MS), HOUR_MS).equals(coarser(at_once, HOUR_MS))


@given(st.lists(st.lists(st.integers(1, 3_600_000_000), max_size=30), min_size=1, max_size=90))
def test_percentiles_of_an_hour_are_within_one_percent_of_the_raw_values(
    raw_us: list[list[int]],
) -> None:
    frames = [
        frame(at * 37, latency=Histogram.of(each), stamped=True) for at, each in enumerate(raw_us)
    ]
    every = sorted(us for each in raw_us for us in each)
    rolled = coarser(coarser(seconds(frames), MINUTE_MS), HOUR_MS)
    records = sum(rolled["records"].to_pylist())
    assert records == len(every)
    assert sum(rolled["windows"].to_pylist()) == len(frames)
    if len(rolled) == 1 and every:
        for name, share in (("p50_us", 0.5), ("p99_us", 0.99), ("max_us", 1.0)):
            exact = every[max(0, -int(-(share * len(every) - 1e-9) // 1) - 1)]
            assert rolled[name][0].as_py() == pytest.approx(exact, rel=0.01)


@given(some_frames(), st.binary(max_size=12), st.sampled_from((1, 2, 5, 8, 10, 13)))
def test_a_garbled_section_costs_no_other_window_its_values(
    frames: list[Frame], garbage: bytes, tag: int
) -> None:
    entries = [Entry(each.start_ms, encode(each)) for each in frames]
    bad_ms = (frames[-1].start_ms if frames else START_MS) // 1000 * 1000 + 1000
    alone = encode(frame((bad_ms - START_MS) // 50))
    bad = Entry(bad_ms, alone + bytes((tag, len(garbage))) + garbage)
    whole = seconds_of(sections.cut([*entries, bad]).rows)
    assert len(whole) == len(seconds(frames)) + 1
    assert whole.slice(0, len(whole) - 1).equals(seconds(frames))


def test_state_is_that_of_all_operators_at_its_highest() -> None:
    sizes = (StateSize(0, rows=10, file_bytes=1_000), StateSize(1, memory_bytes=500))
    frames = [frame(0), frame(1, state_sizes=sizes), frame(2, state_sizes=sizes[:1])]
    rolled = seconds([*frames, frame(40)])
    assert rolled["state_bytes"].to_pylist() == [1_500, None]
    assert coarser(rolled, MINUTE_MS)["state_rows"].to_pylist() == [10]


def test_bytes_that_are_no_frame_are_no_window() -> None:
    entries = [Entry(START_MS, encode(frame(0, (5,)))), Entry(START_MS + 50, b"nothing")]
    assert seconds_of(sections.cut(entries).rows)["windows"].to_pylist() == [1]


def test_nothing_is_rolled_up_to_nothing() -> None:
    assert len(coarser(seconds([]), MINUTE_MS)) == 0
