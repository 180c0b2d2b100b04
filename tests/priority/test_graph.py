"""The bounded link graph: what it keeps, what it forgets, and that a dump is the graph."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.errors import UsageError
from geocrawl.priority.codec import pack_arrays, unpack_arrays
from geocrawl.priority.graph_strategy import MAX_EDGES
from geocrawl.priority.link_graph import LinkGraph

Added = list[tuple[int, list[int]]]
pages = st.lists(st.tuples(st.integers(1, 12), st.lists(st.integers(1, 12), max_size=6)), max_size=30)


def graph_of(added: Added, **bounds: int) -> LinkGraph:
    graph = LinkGraph(**{"max_edges": MAX_EDGES, **bounds})
    for source, targets in added:
        graph.add(source, targets, [0.5] * len(targets))
    graph.settle()
    return graph


def edges_of(graph: LinkGraph) -> set[tuple[int, int]]:
    """(source, target) of each edge."""
    matrix = graph.matrix()
    return set(zip(graph.ids[matrix.sources].tolist(), graph.ids[matrix.targets].tolist(), strict=True))


@given(pages)
def test_the_matrix_holds_each_link_once_and_none_to_itself(added: Added) -> None:
    expected = {(source, target) for source, targets in added for target in targets if source != target}
    graph = graph_of(added)
    assert edges_of(graph) == expected
    assert graph.edges == len(expected)
    assert graph.ids.tolist() == sorted({node for edge in expected for node in edge})
    assert len(graph.matrix().sources) == len(expected)


@given(pages)
def test_products_are_those_of_the_whole_matrix(added: Added) -> None:
    graph = graph_of(added)
    matrix = graph.matrix()
    whole = np.zeros((matrix.n, matrix.n))
    whole[matrix.targets, matrix.sources] = 1.0
    values = np.arange(1.0, matrix.n + 1.0)
    assert matrix.times(values).tolist() == (whole @ values).tolist()
    assert matrix.transposed_times(values).tolist() == (whole.T @ values).tolist()
    assert matrix.out_degrees().tolist() == whole.sum(axis=0).tolist()


@given(pages, pages)
def test_it_does_not_matter_when_links_are_merged(first: Added, second: Added) -> None:
    graph = graph_of(first)
    for source, targets in second:
        graph.add(source, targets, [0.5] * len(targets))
    graph.settle()
    assert edges_of(graph) == edges_of(graph_of(first + second))


@given(pages)
def test_ids_may_be_any_numbers_of_64_bits(added: Added) -> None:
    wide = {each: each << 58 for each in range(1, 13)}
    narrow = graph_of(added, max_edges=9)
    graph = graph_of([(wide[source], [wide[each] for each in targets]) for source, targets in added], max_edges=9)
    assert graph.ids.tolist() == [wide[each] for each in narrow.ids.tolist()]
    assert graph.matrix().sources.tolist() == narrow.matrix().sources.tolist()
    assert graph.matrix().targets.tolist() == narrow.matrix().targets.tolist()


def test_a_link_seen_again_keeps_its_highest_weight() -> None:
    graph = LinkGraph(max_edges=MAX_EDGES)
    graph.add(1, [2, 3], [0.25, 0.5])
    graph.settle()
    graph.add(1, [2], [0.75])
    graph.add(4, [3], [0.125])
    graph.settle()
    assert dict(zip(graph.ids.tolist(), graph.best_weights().tolist(), strict=True)) == {1: 0, 2: 0.75, 3: 0.5, 4: 0}


def test_the_earliest_in_links_stay_and_the_highest_weight_is_not_lost() -> None:
    graph = LinkGraph(max_edges=MAX_EDGES, max_in_links=2)
    for source, weight in ((9, 0.1), (5, 0.2), (7, 0.3), (3, 0.4)):
        graph.add(source, [1], [weight])
    graph.add(3, [2], [0.6])
    graph.settle()
    assert edges_of(graph) == {(9, 1), (5, 1), (3, 2)}
    assert graph.best_weights()[0] == pytest.approx(0.4)
    graph.add(8, [1], [0.9])
    graph.settle()
    assert edges_of(graph) == {(9, 1), (5, 1), (3, 2)}
    assert graph.best_weights()[0] == pytest.approx(0.9)


def test_figures_move_with_their_nodes_and_new_nodes_begin_again() -> None:
    graph = graph_of([(5, [7])])
    graph.node_values["authority"] = np.array([0.25, 0.75])
    graph.add(1, [6, 7], [0.5, 0.5])
    graph.settle()
    assert graph.ids.tolist() == [1, 5, 6, 7]
    assert graph.values("authority", 1.0).tolist() == [1.0, 0.25, 1.0, 0.75]
    assert graph.values("unheard-of", 3.0).tolist() == [3.0] * 4


def test_past_the_bound_links_to_the_least_pages_go_and_of_these_the_oldest() -> None:
    graph = LinkGraph(max_edges=10)
    for source in range(1, 11):
        graph.add(source, [100 if source % 2 else 200], [0.5])
    graph.settle()
    worth = {100: 0.001, 200: 1.0}
    graph.node_values["authority"] = np.array([worth.get(node, 0.5) for node in graph.ids.tolist()])
    graph.add(11, [200], [0.5])
    graph.settle("authority")
    assert graph.edges == 9
    assert graph.forgotten == 2
    assert edges_of(graph) == {(n, 100) for n in (5, 7, 9)} | {(n, 200) for n in (2, 4, 6, 8, 10, 11)}


def test_a_graph_never_holds_more_than_twice_its_bound_before_it_is_merged() -> None:
    graph = LinkGraph(max_edges=100)
    for source in range(1, 200):
        graph.add(source, range(1000 + 7 * source, 1010 + 7 * source), [0.5] * 10)
        assert graph.edges <= 200 + 10
    graph.settle()
    assert graph.edges <= 100
    assert len(graph.ids) <= 200


@given(pages, pages)
def test_a_dump_is_the_graph_with_what_was_not_merged_yet(first: Added, second: Added) -> None:
    graph = graph_of(first)
    graph.node_values["hub"] = np.linspace(0.0, 1.0, len(graph.ids))
    for source, targets in second:
        graph.add(source, targets, [0.25] * len(targets))
    dump = graph.dump(extra=np.array([3, -4]))
    again = LinkGraph(max_edges=MAX_EDGES)
    assert again.load(dump)["extra"].tolist() == [3, -4]
    assert again.dump(extra=np.array([3, -4])) == dump
    graph.settle()
    again.settle()
    assert again.dump() == graph.dump()


@pytest.mark.parametrize("damaged", [b"", b"x", b'{"format": "other 1"}\n', pack_arrays("other 1", {})])
def test_a_dump_of_another_version_is_refused(damaged: bytes) -> None:
    with pytest.raises(UsageError, match="begin with an empty database"):
        LinkGraph(max_edges=MAX_EDGES).load(damaged)


def test_a_truncated_dump_is_refused() -> None:
    with pytest.raises(UsageError):
        LinkGraph(max_edges=MAX_EDGES).load(graph_of([(1, [2, 3])]).dump()[:-5])


def test_arrays_keep_their_types_and_values() -> None:
    arrays = {"a": np.array([5, -3, 2**40]), "b": np.array([0.5, np.nan], np.float32), "c": np.empty(0, np.int32)}
    back = unpack_arrays("test 1", pack_arrays("test 1", arrays))
    for name, array in arrays.items():
        assert back[name].dtype == array.dtype
        np.testing.assert_array_equal(back[name], array)
