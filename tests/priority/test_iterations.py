"""HITS, PageRank and IPageRank on graphs small enough to work out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.priority.graph_strategy import MAX_EDGES
from geocrawl.priority.link_graph import Floats, LinkGraph, hits, ipagerank, pagerank

EXACT = 1e-13
EDGES = st.lists(st.tuples(st.integers(1, 8), st.integers(1, 8)), min_size=1, max_size=30)


def graph_of(*edges: tuple[int, int]) -> LinkGraph:
    graph = LinkGraph(max_edges=MAX_EDGES)
    for source, target in edges:
        graph.add(source, [target], [1.0])
    graph.settle()
    return graph


def ones(graph: LinkGraph) -> Floats:
    return np.ones(len(graph.ids))


def test_hits_gives_the_eigenvectors_of_a_small_web() -> None:
    """1 → 3, 4; 2 → 4: a = (1, φ) up to scale by the eigenvector of [[1, 1], [1, 2]], φ the golden ratio."""
    graph = graph_of((1, 3), (1, 4), (2, 4))
    authority, hub = hits(graph.matrix(), ones(graph), ones(graph), tolerance=EXACT, most=1000)
    golden = (1 + math.sqrt(5)) / 2
    assert authority.tolist() == pytest.approx([0, 0, 1 / golden, 1])
    assert hub.tolist() == pytest.approx([1, 1 / golden, 0, 0])


def test_one_round_of_hits_is_the_papers_two_operations() -> None:
    """I first, from h = 1: a = in-links; then O from the new a; each by its highest value."""
    graph = graph_of((1, 3), (1, 4), (2, 4))
    authority, hub = hits(graph.matrix(), ones(graph), ones(graph), most=1)
    assert authority.tolist() == [0, 0, 0.5, 1]
    assert hub.tolist() == pytest.approx([1, 2 / 3, 0, 0])


def test_pagerank_of_a_small_web_solves_its_equations() -> None:
    """1 → 2, 3; 2 → 3; 3 → 1 with d = 0.85."""
    graph = graph_of((1, 2), (1, 3), (2, 3), (3, 1))
    one, two, three = pagerank(graph.matrix(), ones(graph), d=0.85, tolerance=EXACT, most=1000).tolist()
    assert one == pytest.approx(0.15 + 0.85 * three)
    assert two == pytest.approx(0.15 + 0.85 * one / 2)
    assert three == pytest.approx(0.15 + 0.85 * (one / 2 + two))
    assert one + two + three == pytest.approx(3.0)  # no dead ends: rank is kept


def test_ipagerank_shares_a_pages_rank_by_rw() -> None:
    """1 → 2 (RW 1), 3 (RW 0.5), 4 (RW 0): IPR(1) = 0.15; two and one thirds of it go on."""
    graph = graph_of((1, 2), (1, 3), (1, 4))
    values = ipagerank(graph.matrix(), np.array([0.0, 1.0, 0.5, 0.0]), ones(graph), d=0.85, tolerance=EXACT)
    expected = [0.15, 0.15 + 0.85 * 0.15 * 2 / 3, 0.15 + 0.85 * 0.15 / 3, 0.15]
    assert values.tolist() == pytest.approx(expected)


def test_ipagerank_of_a_circle_solves_its_equations() -> None:
    """1 → 2, 3; 2 → 1; 3 → 1, 2 with RW 0.8, 1, 0.6 of 1, 2, 3."""
    graph = graph_of((1, 2), (1, 3), (2, 1), (3, 1), (3, 2))
    rw = np.array([0.8, 1.0, 0.6])
    one, two, three = ipagerank(graph.matrix(), rw, ones(graph), d=0.85, tolerance=EXACT, most=1000).tolist()
    assert one == pytest.approx(0.15 + 0.85 * (two * 0.8 / 0.8 + three * 0.8 / 1.8))
    assert two == pytest.approx(0.15 + 0.85 * (one * 1.0 / 1.6 + three * 1.0 / 1.8))
    assert three == pytest.approx(0.15 + 0.85 * one * 0.6 / 1.6)


def test_a_page_whose_links_are_all_off_the_topic_passes_nothing_on() -> None:
    graph = graph_of((1, 2), (1, 3))
    assert ipagerank(graph.matrix(), np.zeros(3), ones(graph), d=0.85).tolist() == pytest.approx([0.15] * 3)


@given(EDGES)
def test_with_equal_rw_ipagerank_is_pagerank(edges: list[tuple[int, int]]) -> None:
    graph = graph_of(*edges)
    plain = pagerank(graph.matrix(), ones(graph), d=0.85, tolerance=EXACT, most=1000)
    improved = ipagerank(graph.matrix(), np.full(len(graph.ids), 0.7), ones(graph), d=0.85, tolerance=EXACT, most=1000)
    np.testing.assert_allclose(improved, plain, rtol=1e-9)


@given(EDGES)
def test_values_stay_in_their_range_and_a_warm_start_is_at_rest(edges: list[tuple[int, int]]) -> None:
    graph = graph_of(*edges)
    matrix = graph.matrix()
    authority, hub = hits(matrix, ones(graph), ones(graph), most=5000, tolerance=1e-9)
    for figure in (authority, hub):
        assert ((figure >= 0.0) & (figure <= 1.0)).all()
        assert not len(figure) or figure.max() == 1.0
    again, _ = hits(matrix, authority, hub, most=1)
    np.testing.assert_allclose(again, authority, atol=1e-3)
    ranks = pagerank(matrix, ones(graph), d=0.85, tolerance=1e-9)
    assert (ranks >= 0.15 - 1e-12).all()
    np.testing.assert_allclose(pagerank(matrix, ranks, d=0.85, most=1), ranks, atol=1e-8)


def test_an_empty_graph_has_no_values() -> None:
    graph = graph_of((1, 1))
    assert [len(figure) for figure in hits(graph.matrix(), ones(graph), ones(graph))] == [0, 0]
    assert len(pagerank(graph.matrix(), ones(graph), d=0.85)) == 0
