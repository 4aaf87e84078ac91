"""The pool's parts that need no process: page, messages, plans, arrivals, costs."""

from pathlib import Path
from uuid import UUID

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collectors.formats import buckets
from techniques.pool import chunks
from techniques.pool.chunks import Garbled, Head
from techniques.pool.on_spark import made
from techniques.pool.page import (
    AWAITED_CHUNKS,
    BUCKETS,
    MAX_US,
    MOST_SLOTS,
    READY,
    RECORDED,
    Page,
    WrongPage,
    bucket_of,
)
from techniques.pool.page_words import SlotWord
from techniques.pool.plan import Plan
from techniques.pool.settings import SETTINGS, checked
from techniques.pool.workload import arrivals, heterogeneity
from techniques.pool.workload.topologies import TOPOLOGIES, Topology
from tests.techniques.pool import operators


def plan() -> Plan:
    return made([operators.act, operators.add_one], instances=[2, 1], most=[3, 1], name="parts")


def test_the_page_is_laid_out_as_its_docstring_says(tmp_path: Path) -> None:
    path = str(tmp_path / "page")
    page = Page.create(path, plan(), ring_bytes=4096)
    page.words[page.instance(1)] = READY
    page.words[page.pair(0, 1)] = 7
    page.count_latency(1, 100)
    raw = np.fromfile(path, dtype="<u8")
    assert bytes(raw[:1].tobytes()) == b"CurtailP"
    assert raw[[1, 7, 8, 9, 11]].tolist() == [4, 2, 4, MOST_SLOTS, 4096]
    assert raw[16 : 16 + len(SETTINGS)].tolist() == [each.default for each in SETTINGS]
    # Operators follow the header; their names are text.
    assert raw[[64, 65, 80, 81]].tolist() == [0, 3, 3, 1]
    # They begin with two of three instances, and with one.
    assert raw[[72, 73, 74, 88, 89, 90]].tolist() == [2, 0, 2, 1, 0, 1]
    assert raw[66:71].tobytes().rstrip(b"\0") == b"act"
    # Instances: 32 words, tasks and 4 instances to take from, 4 weights, buckets of half a word.
    size = 32 + 5 + 4 + BUCKETS // 2
    second = 64 + 2 * 16 + size
    assert raw[second] == READY
    assert raw[second + 32] == 7
    assert raw[second + 41 :].view("<u4")[bucket_of(100)] == 1
    assert len(raw) == 64 + 2 * 16 + 4 * size + MOST_SLOTS * (24 + 3 * 64)
    assert page.operator_name(1) == "add_one"
    assert [list(page.operator(one)) for one in (0, 1)] == [[0, 1, 2], [3]]
    page.close()


def test_a_task_says_of_each_chunk_whether_it_waits_for_it(tmp_path: Path) -> None:
    page = Page.create(str(tmp_path / "page"), plan(), ring_bytes=4096)
    page.words[page.slot(3, SlotWord.PID)] = 1
    page.words[page.slot(3, SlotWord.GENERATION)] = 7
    for chunk in (63, 64, AWAITED_CHUNKS):
        page.await_result(3, chunk, True)
    assert [page.is_awaited(3, 7, chunk) for chunk in (62, 63, 64, 65)] == [
        False,
        True,
        True,
        False,
    ]
    # Numbers come again: a task has no two chunks in the pool that are so far apart.
    assert page.is_awaited(3, 7, 0)
    assert not page.is_awaited(3, 6, 63)
    page.await_result(3, 63, False)
    assert not page.is_awaited(3, 7, 63)
    assert page.is_awaited(3, 7, 64)
    page.words[page.slot(3, SlotWord.PID)] = 0
    assert not page.is_awaited(3, 7, 64)
    page.close()


@given(st.lists(st.integers(0, MAX_US), max_size=200), st.integers(0, 200))
@settings(max_examples=30)
def test_the_last_latencies_of_a_task_are_read_once_in_their_order(
    tmp_path_factory: pytest.TempPathFactory, latencies_us: list[int], looked_after: int
) -> None:
    page = Page.create(str(tmp_path_factory.mktemp("page") / "page"), plan(), ring_bytes=4096)
    first, second = latencies_us[:looked_after], latencies_us[looked_after:]
    for latency_us in first:
        page.record(0, latency_us)
    count, found = page.recorded(0, 0)
    assert (count, found) == (len(first), first[-RECORDED:])
    for latency_us in second:
        page.record(0, latency_us)
    assert page.recorded(0, count) == (len(latencies_us), second[-RECORDED:])
    page.close()


def test_a_setting_out_of_its_bounds_is_refused_and_nothing_is_changed(tmp_path: Path) -> None:
    page = Page.create(str(tmp_path / "page"), plan(), ring_bytes=4096)
    before = page.control
    with pytest.raises(ValueError, match="replay_budget must be between 0 and 10000, not 10001"):
        page.steer(0, tau_ms=80, replay_budget=10_001)
    with pytest.raises(ValueError, match="a pool has no setting 'tau'"):
        page.steer(0, tau=80)
    assert page.control == before
    assert [page.setting(at) for at in range(len(SETTINGS))] == [one.default for one in SETTINGS]
    assert checked("tau_ms", 10_000) == len(SETTINGS) - 1
    page.close()


def test_a_slot_says_which_query_it_is_used_for(tmp_path: Path) -> None:
    page = Page.create(str(tmp_path / "page"), plan(), ring_bytes=4096)
    query = UUID("6f9619ff-8b86-4011-b42d-00c04fc964ff")
    at = page.slot(3, 11)
    page.use_for(3, query)
    assert page.words[at : at + 2].tolist() == [0x6F9619FF8B864011, 0xB42D00C04FC964FF]
    page.use_for(3, None)
    assert page.words[at : at + 2].tolist() == [0, 0]
    page.close()


@settings(deadline=None)
@given(st.integers(min_value=-5, max_value=2 * MAX_US))
def test_latencies_are_counted_in_the_buckets_of_the_frames(latency_us: int) -> None:
    assert bucket_of(latency_us) == buckets.index_of(latency_us)
    assert bucket_of(latency_us) < BUCKETS


@pytest.mark.parametrize("content", [b"", b"x" * 100, b"\0" * 4096, b"CurtailP" + b"\xff" * 4096])
def test_what_is_no_page_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "page").write_bytes(content)
    with pytest.raises(WrongPage):
        Page.attach(str(tmp_path / "page"))


def test_a_switch_has_a_version_of_its_own(tmp_path: Path) -> None:
    page = Page.create(str(tmp_path / "page"), plan(), ring_bytes=4096)
    first, second = page.steer(1), page.steer(0)
    assert second == first + 1
    assert page.control == (second, 0)
    page.close()


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), st.text()), max_size=50))
def test_a_batch_is_the_same_behind_the_ring(values: list[tuple[int, str]]) -> None:
    batch = pa.RecordBatch.from_arrays(
        [pa.array([a for a, _ in values], pa.int64()), pa.array([b for _, b in values])],
        schema=pa.schema({"a": pa.int64(), "b": pa.string()}),
    )
    schema_bytes, parts = chunks.written(batch)
    assert chunks.read(schema_bytes, memoryview(b"".join(parts))).equals(batch)


def test_a_batch_with_dictionaries_is_whole_too() -> None:
    inner = pa.array(["x", "y", "x"]).dictionary_encode()
    batch = pa.RecordBatch.from_pydict({"a": pa.array([[1], [], [2]]), "b": inner})
    schema_bytes, parts = chunks.written(batch)
    assert schema_bytes == 0
    assert chunks.read(0, memoryview(b"".join(parts))).equals(batch)


@settings(deadline=None)
@given(st.binary(max_size=200), st.integers(0, 200))
def test_garbage_is_told_from_a_batch(body: bytes, schema_bytes: int) -> None:
    with pytest.raises(Garbled):
        chunks.read(schema_bytes, memoryview(body))


def test_a_head_is_read_as_it_was_written() -> None:
    head = Head(2**63, 5, 255, 7, 1, 64, chunks.RESULT, 1, 99)
    body = chunks.packed(head) + b"rest"
    found, rest = chunks.unpacked(body)
    assert (found, bytes(rest)) == (head, b"rest")
    with pytest.raises(Garbled):
        chunks.unpacked(body[:39])


def test_a_batch_is_cut_into_chunks_without_losing_a_row() -> None:
    batch = pa.RecordBatch.from_pydict({"a": list(range(25))})
    cut = list(chunks.cut(batch, 10))
    assert [one.num_rows for one in cut] == [10, 10, 5]
    assert pa.Table.from_batches(cut).column("a").to_pylist() == list(range(25))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"instances": 0}, "instances must be between 1 and 64, not 0"),
        ({"instances": [1, 2]}, "1 operators, but 2 numbers of instances"),
        ({"most": [4, 4]}, "1 operators, but 2 numbers of the most instances"),
        ({"most": 3}, "most must be between 4 and 64, not 3"),
        ({"most": 65}, "most must be between 4 and 64, not 65"),
        ({"chunk_rows": 0}, "chunk_rows must be between"),
        ({"memory_mb": 1}, "memory_mb must be between 8"),
        ({"window": 0}, "window must be between"),
        ({"name": "a/b"}, "a pool's name is"),
        ({"policy": "best"}, "no policy 'best'; there are round-robin"),
    ],
)
def test_a_pool_that_makes_no_sense_is_refused(options: dict[str, object], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        made(operators.act, **options)  # type: ignore[arg-type]


def test_no_operator_and_no_function_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one operator"):
        made([])
    with pytest.raises(TypeError, match="an operator is a function"):
        made("upper")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="80 instances in all"):
        made([operators.act, operators.act], instances=40)
    with pytest.raises(ValueError, match="80 instances to grow to in all"):
        made([operators.act, operators.act], instances=2, most=40)


@pytest.mark.parametrize(
    ("instances", "most"),
    [([4], [8]), ([8], [16]), ([1, 6], [5, 12]), ([40], [64]), ([30, 30], [32, 32]), ([64], [64])],
)
def test_there_is_room_for_twice_the_instances_or_four_more_as_far_as_a_pool_may_have_them(
    instances: list[int], most: list[int]
) -> None:
    chain = made([operators.act] * len(instances), instances=instances)
    assert [stage.most for stage in chain.stages] == most
    assert (chain.instances, chain.room) == (sum(instances), sum(most))
    other = made([operators.act] * len(instances), instances=instances, most=instances)
    assert (other.digest == chain.digest) == (instances == most)


def test_the_same_operator_twice_has_two_names() -> None:
    chain = made([operators.act] * 3, instances=2, most=2)
    assert [stage.name for stage in chain.stages] == ["act", "act.2", "act.3"]
    assert [chain.instance_name(one) for one in (0, 3, 5)] == ["act-0", "act.2-1", "act.3-1"]


def test_other_operators_under_the_same_name_are_another_pool() -> None:
    one, other = (made(each, name="same") for each in (operators.act, operators.add_one))
    assert one.digest != other.digest
    assert one.digest == made(operators.act, name="same", ordered=True, chunk_rows=3).digest


def test_poisson_arrivals_have_the_rate_and_the_spread_of_their_kind() -> None:
    times = arrivals.poisson(1000, 20, seed=3)
    gaps = np.diff(times)
    assert len(times) == pytest.approx(20_000, rel=0.03)
    # Exponential gaps: as wide as they are long on average.
    assert gaps.std() == pytest.approx(gaps.mean(), rel=0.03)
    assert (gaps >= 0).all()
    assert times[-1] < 20


def test_a_trace_is_read_as_it_was_recorded(tmp_path: Path) -> None:
    (tmp_path / "trace").write_text("10.5\n10.75\n\n12\n")
    assert arrivals.read_trace(tmp_path / "trace").tolist() == [0, 0.25, 1.5]
    (tmp_path / "trace").write_text("2\n1\n")
    with pytest.raises(ValueError, match="must not go backwards"):
        arrivals.read_trace(tmp_path / "trace")


def test_skewed_costs_are_mostly_small_and_sometimes_large() -> None:
    costs = heterogeneity.skewed_us(20_000, 1_000, 50_000, seed=1)
    assert costs.min() >= 1_000
    assert costs.max() <= 50_000
    assert np.median(costs) < 2_500
    assert np.quantile(costs, 0.99) > 25_000


@pytest.mark.parametrize("topology", TOPOLOGIES.values(), ids=TOPOLOGIES)
def test_a_topology_does_the_same_to_the_same_tuples(topology: Topology) -> None:
    batch = topology.tuples(200, 7)
    first, again = topology.plain(batch), topology.plain(topology.tuples(200, 7))
    assert first.equals(again)
    assert first.num_rows > 0
    # A chunk of which a filter leaves nothing goes through the rest of the chain.
    assert topology.plain(batch.slice(0, 0)).schema == first.schema


def test_words_are_counted_as_plain_python_counts_them() -> None:
    topology = TOPOLOGIES["word_count"]
    batch = topology.tuples(100, 1)
    words = " ".join(batch.column("sentence").to_pylist()).split(" ")
    found = {row["word"]: row["count"] for row in topology.plain(batch).to_pylist()}
    assert found == {word: words.count(word) for word in set(words)}


def test_exclamations_are_as_many_as_operators() -> None:
    made = TOPOLOGIES["exclamation"].plain(TOPOLOGIES["exclamation"].tuples(3, 0))
    assert all(word.endswith("!!!") for word in made.column("word").to_pylist())
