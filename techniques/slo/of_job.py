"""The juice of a Spark job, from what its view tells.

The graph is the job's sources as one, and the operators of its pools. Between Spark's own stages
nothing is lost: a micro-batch executes all that a stage sends before it ends, so there E = T, and
they are part of the source. Rows that wait do so before the batch, at the source, whose backlog
grows by what arrived and was not executed:

    arrived = executed + growth of the backlog

over the sliding minute. For pools T and E are chunks, counted by tasks and instances.

What is not told: sources whose offsets do not count rows have no backlog, and no juice (None). Rows
that come while a batch runs are not in the backlog before the next one is planned. Executed rows
are those whose latency was measured: with `stamp()` behind a filter these are fewer, and juice is
lower than it would be by rows read while the backlog grows.
"""

import numpy as np

from techniques.slo import window
from techniques.slo.juice import Edge, Graph, NoGraph, Source, juice
from techniques.view import WINDOW_MS, Floats, Pool, View

SOURCE = "source"


def juice_of(view: View) -> float | None:
    """From 0 to 1; None where it cannot be told."""
    found = graph(view)
    return None if found is None else juice(found)


def graph(view: View) -> Graph | None:
    """The job's operators over the last minute."""
    return view.once(_graph)


def _graph(view: View) -> Graph | None:
    if not window.has_data(view) or (source := _source(view)) is None:
        return None
    edges = tuple(edge for pool in view.pools for edge in _edges(view, pool))
    try:
        return Graph((source,), _added(edges))
    except NoGraph:
        # Pools send in a row of operators; what looks otherwise is half a picture.
        return None


def _source(view: View) -> Source | None:
    backlog = window.means(view, view.backlog_rows)
    known = np.flatnonzero(~np.isnan(backlog))
    if len(known) < 2 or known[-1] - known[0] + 1 < window.FEWEST:
        return None
    executed = float(np.nansum(window.sums(view, view.records)))
    # From the middle of the first sub-window to that of the last, as for the whole minute.
    apart = (known[-1] - known[0]) / len(backlog)
    growth = float(backlog[known[-1]] - backlog[known[0]]) / apart
    return Source(SOURCE, executed + max(0.0, growth), executed)


def _edges(view: View, pool: Pool) -> list[Edge]:
    """Between the pool's operators; chunks of the tasks come from the source."""
    since_ms = view.end_ms - window.MINUTE_MS
    recent = pool.sent.window_ms >= since_ms
    operator = {each.name: _name(pool, each.operator) for each in pool.instances}
    sent: dict[tuple[str, str], float] = {}
    columns = pool.sent.source[recent], pool.sent.target[recent], pool.sent.chunks[recent]
    for source, target, chunks in zip(*columns, strict=True):
        if target in operator and (not source or source in operator):
            pair = operator[source] if source else SOURCE, operator[target]
            sent[pair] = sent.get(pair, 0.0) + float(chunks)
    if not sent and pool.instances and (chunks := _total(view, pool.chunks)):
        # A shared queue has no pairs: what tasks sent is for the first operator.
        sent[SOURCE, operator[pool.instances[0].name]] = chunks
    executed: dict[str, float] = {}
    for each in pool.instances:
        name = operator[each.name]
        executed[name] = executed.get(name, 0.0) + _total(view, each.executed)
    into: dict[str, float] = {}
    for (_, child), number in sent.items():
        into[child] = into.get(child, 0.0) + number
    return [
        Edge(parent, child, number, executed[child] * number / into[child] if number else 0.0)
        for (parent, child), number in sorted(sent.items())
    ]


def _added(edges: tuple[Edge, ...]) -> tuple[Edge, ...]:
    """The same pool on several hosts is one: edges with the same ends are added up."""
    found: dict[tuple[str, str], Edge] = {}
    for each in edges:
        ends = each.parent, each.child
        before = found.get(ends, Edge(*ends, 0.0, 0.0))
        found[ends] = Edge(*ends, before.sent + each.sent, before.executed + each.executed)
    return tuple(found.values())


def _total(view: View, values: Floats) -> float:
    return float(np.nansum(values[-window.MINUTE_MS // WINDOW_MS :]))


def _name(pool: Pool, operator: str) -> str:
    return f"{pool.name}/{operator}"
