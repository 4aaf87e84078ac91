"""The topologies of Henge's evaluation, as graphs of operators with the work that a tuple is.

*PageLoad* (figure 7) and *WordCount* come from production, *diamond*, *star* and *linear* (figure
8) are micro-benchmarks. The paper draws them and does not say what a tuple costs. Here it is a few
milliseconds, so that the latency SLOs of 60 to 80 ms can be met with some queueing but not with
much, and half of PageLoad's work is its join with a database. What one parent sends is split evenly
among its children.
"""

from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Operator:
    """`service_ms` is the CPU time of one tuple on an idle machine, `selectivity` how many tuples
    it sends, to all its children together, for one that it executes."""

    name: str
    service_ms: float
    parents: tuple[str, ...] = ()
    selectivity: float = 1.0


@dataclass(frozen=True)
class Topology:
    """Operators, parents before children. Those without parents are the sources: each gets an equal
    part of the job's input."""

    name: str
    operators: tuple[Operator, ...]

    @cached_property
    def sources(self) -> tuple[str, ...]:
        return tuple(each.name for each in self.operators if not each.parents)

    @cached_property
    def sinks(self) -> tuple[str, ...]:
        return tuple(each.name for each in self.operators if not self.children(each.name))

    def children(self, name: str) -> tuple[str, ...]:
        return tuple(each.name for each in self.operators if name in each.parents)

    @cached_property
    def flow(self) -> dict[str, float]:
        """How many tuples each operator executes for one that the job gets."""
        flow: dict[str, float] = {}
        sent = {each.name: each.selectivity for each in self.operators}
        for each in self.operators:
            flow[each.name] = (
                sum(flow[it] * sent[it] / len(self.children(it)) for it in each.parents)
                if each.parents
                else 1 / len(self.sources)
            )
        return flow

    @cached_property
    def cores_per_rate(self) -> float:
        """How many cores an input of one tuple a second keeps busy."""
        return sum(self.flow[each.name] * each.service_ms / 1e3 for each in self.operators)


PAGE_LOAD = Topology(
    "PageLoad",
    (
        Operator("spout", 0.05),
        Operator("transform", 1.5, ("spout",)),
        Operator("filter", 0.5, ("transform",), 0.8),
        Operator("join", 5.0, ("filter",)),
        Operator("filter_joined", 0.5, ("join",), 0.8),
        Operator("aggregate", 2.0, ("filter_joined",)),
        Operator("output", 0.5, ("aggregate",)),
    ),
)
WORD_COUNT = Topology(
    "WordCount",
    (
        Operator("spout", 0.05),
        Operator("split", 1.0, ("spout",), 5.0),
        Operator("count", 0.4, ("split",)),
    ),
)
DIAMOND = Topology(
    "diamond",
    (
        Operator("spout", 0.05),
        Operator("left", 3.0, ("spout",)),
        Operator("middle", 3.0, ("spout",)),
        Operator("right", 3.0, ("spout",)),
        Operator("merge", 2.0, ("left", "middle", "right")),
    ),
)
STAR = Topology(
    "star",
    (
        Operator("spout_1", 0.05),
        Operator("spout_2", 0.05),
        Operator("center", 3.0, ("spout_1", "spout_2")),
        Operator("out_1", 2.0, ("center",)),
        Operator("out_2", 2.0, ("center",)),
    ),
)
LINEAR = Topology(
    "linear",
    (
        Operator("spout", 0.05),
        Operator("first", 1.5, ("spout",)),
        Operator("second", 3.0, ("first",)),
        Operator("third", 1.5, ("second",)),
    ),
)
