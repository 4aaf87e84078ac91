import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from techniques.slo.juice import Edge, Graph, NoGraph, Source, juice, operator_juice

KEEPS_UP = Source("A", 10_000, 10_000)


def test_the_papers_worked_example() -> None:
    """Figure 2: A sends 16K, half to B and half to C; C is congested and executes 6K of its 8K."""
    graph = Graph(
        (KEEPS_UP,),
        (
            Edge("A", "B", 8_000, 8_000),
            Edge("A", "C", 8_000, 6_000),
            Edge("B", "D", 8_000, 8_000),
            Edge("C", "D", 6_000, 6_000),
        ),
    )

    assert operator_juice(graph) == {"A": 1.0, "B": 0.5, "C": 0.375, "D": 0.875}
    assert juice(graph) == 0.875


def test_without_d_the_juices_of_the_sinks_b_and_c_add_up() -> None:
    graph = Graph((KEEPS_UP,), (Edge("A", "B", 8_000, 8_000), Edge("A", "C", 8_000, 6_000)))

    assert juice(graph) == 0.875


def test_an_uneven_split_loses_nothing() -> None:
    graph = Graph((KEEPS_UP,), (Edge("A", "B", 9_000, 9_000), Edge("A", "C", 1_000, 1_000)))

    assert juice(graph) == 1.0


def test_a_merge_of_two_sources_counts_each_of_them_as_half() -> None:
    other = Source("B", 100, 100)
    graph = Graph((KEEPS_UP, other), (Edge("A", "C", 10_000, 10_000), Edge("B", "C", 100, 50)))

    assert juice(graph) == 0.75


def test_a_filter_loses_nothing_for_what_counts_is_what_it_executed() -> None:
    graph = Graph((KEEPS_UP,), (Edge("A", "B", 10_000, 10_000), Edge("B", "C", 10, 10)))

    assert juice(graph) == 1.0


def test_a_filter_that_lets_nothing_pass_loses_nothing() -> None:
    edges = (Edge("A", "B", 10_000, 5_000), Edge("B", "C", 0, 0), Edge("B", "D", 0, 0))

    assert juice(Graph((KEEPS_UP,), edges)) == 0.5


def test_a_duplicate_for_every_child_counts_as_sent_to_each() -> None:
    graph = Graph((KEEPS_UP,), (Edge("A", "B", 10_000, 10_000), Edge("A", "C", 10_000, 5_000)))

    assert juice(graph) == 0.75, "a child that does half of it loses a quarter of all that was sent"


def test_what_was_sent_in_an_earlier_window_makes_no_juice() -> None:
    graph = Graph((KEEPS_UP,), (Edge("A", "B", 8_000, 12_000), Edge("A", "C", 8_000, 4_000)))

    assert juice(graph) == 0.75


def test_a_source_that_is_behind_gives_less_than_one() -> None:
    behind = Source("A", 10_000, 8_000)

    assert juice(Graph((behind,))) == 0.8
    assert juice(Graph((behind,), (Edge("A", "B", 8_000, 4_000),))) == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("source", "expected"),
    [(Source("A", 0, 0), 1.0), (Source("A", 0, 500), 1.0), (Source("A", 100, 400), 1.0)],
)
def test_a_source_for_which_nothing_more_arrived_keeps_up(source: Source, expected: float) -> None:
    assert juice(Graph((source,))) == expected


@pytest.mark.parametrize(
    ("sources", "edges", "why"),
    [
        ((), (), "no source"),
        ((KEEPS_UP, KEEPS_UP), (), "same name"),
        ((KEEPS_UP,), (Edge("A", "B", 1, 1), Edge("A", "B", 2, 2)), "same ends"),
        ((KEEPS_UP,), (Edge("A", "B", 1, 1), Edge("B", "A", 1, 1)), "to source A"),
        (
            (KEEPS_UP,),
            (Edge("A", "B", 1, 1), Edge("B", "C", 1, 1), Edge("C", "B", 1, 1)),
            "a cycle: ",
        ),
        ((KEEPS_UP,), (Edge("X", "B", 1, 1),), "nothing is sent to it"),
    ],
)
def test_what_is_no_graph_is_refused(
    sources: tuple[Source, ...], edges: tuple[Edge, ...], why: str
) -> None:
    with pytest.raises(NoGraph, match=why):
        Graph(sources, edges)


COUNTS = st.floats(0, 1e9)


@st.composite
def graphs(draw: st.DrawFn, losing: bool = True) -> Graph:
    """Operators in layers: each has one or more parents among those before it."""
    sources = []
    for at in range(draw(st.integers(1, 3))):
        arrived = draw(COUNTS)
        sources.append(Source(f"s{at}", arrived, draw(COUNTS) if losing else arrived))
    names = [each.name for each in sources]
    edges = []
    for at in range(draw(st.integers(0, 6))):
        for parent in draw(st.sets(st.sampled_from(names), min_size=1)):
            sent = draw(COUNTS)
            edges.append(Edge(parent, f"o{at}", sent, draw(COUNTS) if losing else sent))
        names.append(f"o{at}")
    return Graph(tuple(sources), tuple(edges))


@given(graphs())
@settings(max_examples=40, deadline=None)
def test_juice_is_a_share(graph: Graph) -> None:
    assert 0 <= juice(graph) <= 1


@given(graphs(losing=False))
@settings(max_examples=40, deadline=None)
def test_where_nothing_is_lost_juice_is_one(graph: Graph) -> None:
    assert juice(graph) == pytest.approx(1)
