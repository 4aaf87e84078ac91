"""The papers' topologies, each once: for tests, benchmarks and examples.

The source of a topology is whoever drives it, so a topology here is the chain behind the source,
one tuple a row. Rates and numbers of tasks are the papers'; they ran on clusters, so a caller on
one machine says its own (`Topology.with_tasks`).

| name | paper | operators behind the source | tasks each | tuples a second |
| --- | --- | --- | --- | --- |
| exclamation | Du & Gupta, 5.1.1 | 3 × append "!" | 5 | not told |
| cpu_line | Du & Gupta, 5.1.3 | 3 × 200 000 arithmetic operations | 5 (3 in one run) | not told |
| word_count | Hone, 6.1 | split, count | 10 | 1 170 to 1 330 |
| page_load | Du & Gupta, 5.2; Henge, 8 | transform, filter, aggregate, output | 5 | 5 × 240 |
| processing | Du & Gupta, 5.2 | transform, filter, transform, output | 5 | 5 × 240 |
| sol | TurboStream, VI | 5 × pass on | 5 | 5 000 |
| throughput | TurboStream, VI-C | 2 × pass on | 5 | 1 000 and more |

"Not told" stands here as the rate of the paper's other runs. Of the two Yahoo topologies the papers
show the layout in figures and say of their operators that they filter, transform and aggregate;
which one comes after which is our reading. The size of a SOL message is not told either. Counting
is per chunk: an operator of a pool has no state, sums over chunks are for who comes after it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from techniques.pool.plan import Operator

ARITHMETIC_OPERATIONS = 200_000
LONGEST_SENTENCE = 32
VOCABULARY = 5_000
SOL_BYTES = 100


@dataclass(frozen=True)
class Step:
    operator: Operator
    tasks: int


@dataclass(frozen=True)
class Topology:
    name: str
    steps: tuple[Step, ...]
    rate_per_s: float
    # (rows, seed) → input.
    tuples: Callable[[int, int], pa.RecordBatch]

    @property
    def operators(self) -> list[Operator]:
        return [step.operator for step in self.steps]

    @property
    def tasks(self) -> list[int]:
        return [step.tasks for step in self.steps]

    def with_tasks(self, tasks: int) -> "Topology":
        return replace(self, steps=tuple(replace(step, tasks=tasks) for step in self.steps))

    def plain(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Applies the chain of operators to a batch, without a pool."""
        for operator in self.operators:
            batch = operator(batch)
        return batch


def exclaim(batch: pa.RecordBatch) -> pa.RecordBatch:
    louder = pc.binary_join_element_wise(batch.column("word"), "!", "")
    return batch.set_column(batch.schema.get_field_index("word"), "word", louder)


def compute(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Does a fixed number of arithmetic operations per tuple; the result depends on all of them."""
    steps = np.arange(ARITHMETIC_OPERATIONS // 2, dtype=np.uint64)
    value = [int((steps * np.uint64(one)).sum()) & 0x7FFF_FFFF for one in _ints(batch, "value")]
    at = batch.schema.get_field_index("value")
    return batch.set_column(at, "value", pa.array(value, pa.int64()))


def split(batch: pa.RecordBatch) -> pa.RecordBatch:
    words = pc.split_pattern(batch.column("sentence"), " ")
    return pa.RecordBatch.from_arrays(
        [pc.take(batch.column("id"), pc.list_parent_indices(words)), pc.list_flatten(words)],
        names=["id", "word"],
    )


def count(batch: pa.RecordBatch) -> pa.RecordBatch:
    return _grouped(batch, "word", "word", "count", ["word", "count"])


def read_event(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Text to fields: page, status and milliseconds."""
    fields = pc.split_pattern(batch.column("event"), " ")
    return pa.RecordBatch.from_arrays(
        [
            batch.column("id"),
            pc.list_element(fields, 0),
            pc.cast(pc.list_element(fields, 1), pa.int64()),
            pc.cast(pc.list_element(fields, 2), pa.int64()),
        ],
        names=["id", "page", "status", "load_ms"],
    )


def only_served(batch: pa.RecordBatch) -> pa.RecordBatch:
    return batch.filter(pc.equal(batch.column("status"), 200))


def per_page(batch: pa.RecordBatch) -> pa.RecordBatch:
    return _grouped(batch, "page", "load_ms", "sum", ["page", "load_ms"])


def in_seconds(batch: pa.RecordBatch) -> pa.RecordBatch:
    seconds = pc.divide(pc.cast(batch.column("load_ms"), pa.float64()), 1000.0)
    return batch.append_column("load_s", seconds)


def as_text(batch: pa.RecordBatch) -> pa.RecordBatch:
    """One line a row, as a sink wants it."""
    columns = [pc.cast(column, pa.string()) for column in batch.columns]
    lines = pc.binary_join_element_wise(*columns, " ")
    return pa.RecordBatch.from_arrays([lines], names=["line"])


def pass_on(batch: pa.RecordBatch) -> pa.RecordBatch:
    return batch


def words(rows: int, seed: int) -> pa.RecordBatch:
    drawn = np.random.default_rng(seed).integers(0, VOCABULARY, rows)
    return _with_ids({"word": [f"word{one}" for one in drawn]}, rows)


def values(rows: int, seed: int) -> pa.RecordBatch:
    drawn = np.random.default_rng(seed).integers(1, 1 << 31, rows)
    return _with_ids({"value": pa.array(drawn, pa.int64())}, rows)


def sentences(rows: int, seed: int) -> pa.RecordBatch:
    """Sentences of 1 to 32 words, as in Hone's data; a few words are common, most are rare."""
    numbers = np.random.default_rng(seed)
    lengths = numbers.integers(1, LONGEST_SENTENCE + 1, rows)
    spoken = [
        " ".join(f"word{int(one)}" for one in numbers.uniform(size=length) ** 2 * VOCABULARY)
        for length in lengths
    ]
    return _with_ids({"sentence": spoken}, rows)


def events(rows: int, seed: int) -> pa.RecordBatch:
    numbers = np.random.default_rng(seed)
    pages, status = numbers.integers(0, 100, rows), numbers.choice([200, 200, 200, 404, 500], rows)
    loads_ms = numbers.lognormal(4, 1, rows).astype(int)
    drawn = zip(pages, status, loads_ms, strict=True)
    return _with_ids({"event": [f"/page/{page} {code} {ms}" for page, code, ms in drawn]}, rows)


def messages(rows: int, seed: int) -> pa.RecordBatch:
    numbers = np.random.default_rng(seed)
    return _with_ids({"message": [numbers.bytes(SOL_BYTES) for _ in range(rows)]}, rows)


TOPOLOGIES: dict[str, Topology] = {
    made.name: made
    for made in (
        Topology("exclamation", (Step(exclaim, 5),) * 3, 5 * 240, words),
        Topology("cpu_line", (Step(compute, 5),) * 3, 5 * 240, values),
        Topology("word_count", (Step(split, 10), Step(count, 10)), 1_170, sentences),
        Topology(
            "page_load",
            (Step(read_event, 5), Step(only_served, 5), Step(per_page, 5), Step(as_text, 5)),
            5 * 240,
            events,
        ),
        Topology(
            "processing",
            (Step(read_event, 5), Step(only_served, 5), Step(in_seconds, 5), Step(as_text, 5)),
            5 * 240,
            events,
        ),
        Topology("sol", (Step(pass_on, 5),) * 5, 5_000, messages),
        Topology("throughput", (Step(pass_on, 5),) * 2, 1_000, messages),
    )
}


def _with_ids(columns: dict[str, object], rows: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"id": np.arange(rows), **columns})


def _ints(batch: pa.RecordBatch, name: str) -> list[int]:
    return [int(one) for one in batch.column(name).to_pylist()]


def _grouped(
    batch: pa.RecordBatch, key: str, of: str, how: str, names: list[str]
) -> pa.RecordBatch:
    table = pa.Table.from_batches([batch]).group_by(key).aggregate([(of, how)])
    table = table.rename_columns(names).combine_chunks()
    found = table.to_batches()
    return found[0] if found else pa.RecordBatch.from_pylist([], table.schema)
