"""Juice: the share of its input that a job processes, whatever the rate (Henge, section 6).

For an operator o with parents i, T_i the tuples that parent i sent (to all its children together),
and E_o^i those of them that o executed,

    J_o = Σ_i J_i · E_o^i / T_i                                                    (5)

and a job's juice is the sum over its sinks and sources, divided by the number of sources (6).

- A *split* (each tuple goes to one of the children): the children's parts add up to their parent's.
- A *duplication* (each tuple goes to every child) counts as sent once per child, so the same holds.
- A *merge* adds what comes from each parent.
- A *filter* loses nothing: what counts is what was executed, not what came out of it.
- A *source* has J = 1 in the paper, where tuples wait in the job. Here they wait outside of it as
  well (a topic that the query is behind on), so J = executed / arrived.

In a window an operator may execute more than it was sent, namely what was sent before. That makes
no juice: what counts of an edge is at most what was sent on it in the same window, so that no ratio
and no juice is above 1. Where nothing was sent, nothing is missing.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter


@dataclass(frozen=True)
class Source:
    """Tuples that arrived for the job in the window, and those that it took in."""

    name: str
    arrived: float
    executed: float


@dataclass(frozen=True)
class Edge:
    """Tuples that `parent` sent to `child`, and those of them that `child` executed."""

    parent: str
    child: str
    sent: float
    executed: float


class NoGraph(ValueError):
    """These edges are no graph of operators; the message says why."""


@dataclass(frozen=True)
class Graph:
    """Operators are known by what is sent to them. Raises `NoGraph` for cycles, for an edge from
    nowhere, and without any source."""

    sources: tuple[Source, ...]
    edges: tuple[Edge, ...] = ()

    def __post_init__(self) -> None:
        if not self.sources:
            raise NoGraph("there is no source")
        names = [each.name for each in self.sources]
        if len({*names}) < len(names):
            raise NoGraph("two sources have the same name")
        pairs = [(each.parent, each.child) for each in self.edges]
        if len({*pairs}) < len(pairs):
            raise NoGraph("two edges have the same ends")
        children = {each.child for each in self.edges}
        if back := sorted(children & {*names}):
            raise NoGraph(f"something is sent to source {back[0]}")
        if adrift := sorted({each.parent for each in self.edges} - children - {*names}):
            raise NoGraph(f"{adrift[0]} sends, but nothing is sent to it")
        self.order()

    def order(self) -> list[str]:
        """Returns the operators, each after its parents."""
        parents: dict[str, set[str]] = {each.name: set() for each in self.sources}
        for edge in self.edges:
            parents.setdefault(edge.child, set()).add(edge.parent)
        try:
            return list(TopologicalSorter(parents).static_order())
        except CycleError as found:
            raise NoGraph(f"a cycle: {' → '.join(found.args[1])}") from found

    @property
    def sinks(self) -> list[str]:
        parents = {each.parent for each in self.edges}
        return [name for name in self.order() if name not in parents]


def operator_juice(graph: Graph) -> dict[str, float]:
    """Equation (5) for all operators, summed over the sources."""
    found = {each.name: _part(each.executed, each.arrived) for each in graph.sources}
    sent: dict[str, float] = {}
    for edge in graph.edges:
        sent[edge.parent] = sent.get(edge.parent, 0.0) + edge.sent
    into: dict[str, list[Edge]] = {}
    for edge in graph.edges:
        into.setdefault(edge.child, []).append(edge)
    silent = _silent(graph.edges, sent)
    for name in graph.order():
        if name in into:
            found[name] = sum(
                found[edge.parent]
                * (
                    silent[edge.parent]
                    if not sent[edge.parent]
                    else min(edge.executed, edge.sent) / sent[edge.parent]
                )
                for edge in into[name]
            )
    return found


def juice(graph: Graph) -> float:
    """Equation (6): from 0 to 1."""
    of = operator_juice(graph)
    return min(1.0, sum(of[name] for name in graph.sinks) / len(graph.sources))


def _silent(edges: Iterable[Edge], sent: dict[str, float]) -> dict[str, float]:
    """A parent that sent nothing (a filter that let nothing pass) keeps all of its juice, in equal
    parts for its children."""
    children: dict[str, int] = {}
    for edge in edges:
        children[edge.parent] = children.get(edge.parent, 0) + 1
    return {parent: 1 / number for parent, number in children.items() if not sent[parent]}


def _part(executed: float, arrived: float) -> float:
    return 1.0 if arrived <= 0 else min(1.0, max(0.0, executed) / arrived)
