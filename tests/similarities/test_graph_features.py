"""Vectors made from graphs, against slow counts and against GraKeL."""

from itertools import combinations, permutations

import numpy as np
import pytest
from sklearn.base import clone

from kernlearn.datasets import molecule_graphs, random_graphs
from kernlearn.similarities import GraphStatistics, WeisfeilerLehmanFeatures


def slow_colours(near, labels, n_iterations):
    """The colours of all nodes in all iterations, as nested tuples."""
    now = dict(labels)
    found = [(0, colour) for colour in now.values()]
    for iteration in range(1, n_iterations + 1):
        now = {u: (now[u], tuple(sorted((now[v] for v in near[u]), key=repr))) for u in near}
        found += [(iteration, colour) for colour in now.values()]
    return found


@pytest.mark.parametrize("n_iterations", [0, 1, 3])
def test_products_are_numbers_of_pairs_of_equal_colours(n_iterations):
    graphs = molecule_graphs(8, random_state=0).data
    Z = WeisfeilerLehmanFeatures(n_iterations, normalize=False).fit_transform(graphs)
    colours = [slow_colours(*graph, n_iterations) for graph in graphs]
    expected = [[sum(a == b for a in x for b in y) for y in colours] for x in colours]
    np.testing.assert_array_equal((Z @ Z.T).toarray(), expected)


@pytest.mark.parametrize("make", [molecule_graphs, random_graphs])
def test_products_are_the_kernel_of_grakel(make):
    pytest.importorskip("grakel")
    from kernlearn.similarities import GrakelKernel

    graphs = make(12, random_state=1).data
    Z = WeisfeilerLehmanFeatures(2).fit_transform(graphs)
    K = GrakelKernel("weisfeiler_lehman", n_iter=2)(graphs)
    np.testing.assert_allclose((Z @ Z.T).toarray(), K, atol=1e-12)


def cycles(near, k):
    """The number of cycles of k nodes, by trying all."""
    found = 0
    for nodes in combinations(sorted(near), k):
        first, *rest = nodes
        for order in permutations(rest):
            ring = [first, *order]
            found += all(b in near[a] for a, b in zip(ring, ring[1:] + ring[:1], strict=True))
    return found // 2


@pytest.mark.parametrize("seed", range(3))
def test_cycles_are_counted(seed):
    graphs = random_graphs(3, n_nodes=12, random_state=seed).data
    statistics = GraphStatistics().fit(graphs)
    names = statistics.get_feature_names_out().tolist()
    for graph, row in zip(graphs, statistics.transform(graphs), strict=True):
        found = dict(zip(names, row, strict=True))
        counted = [found[name] for name in ("triangles", "squares", "pentagons")]
        np.testing.assert_allclose(counted, [cycles(graph[0], k) for k in (3, 4, 5)], atol=1e-6)


def test_statistics_are_those_of_networkx():
    networkx = pytest.importorskip("networkx")
    graphs = random_graphs(6, random_state=3).data
    made = [networkx.from_dict_of_lists(near) for near, _ in graphs]
    statistics = GraphStatistics().fit(made)
    Z = statistics.transform(made)
    np.testing.assert_array_equal(Z, GraphStatistics().fit(graphs).transform(graphs))
    found = dict(zip(statistics.get_feature_names_out(), Z.T, strict=True))
    expected = {
        "nodes": networkx.number_of_nodes,
        "edges": networkx.number_of_edges,
        "density": networkx.density,
        "components": networkx.number_connected_components,
        "clustering": networkx.average_clustering,
        "assortativity": networkx.degree_pearson_correlation_coefficient,
        "spectral radius": lambda g: max(abs(networkx.adjacency_spectrum(g))),
    }
    for name, of_graph in expected.items():
        np.testing.assert_allclose(found[name], [of_graph(g) for g in made], err_msg=name)


def test_labels_are_shares():
    graphs = molecule_graphs(20, random_state=0).data
    statistics = clone(GraphStatistics()).fit(graphs)
    assert statistics.labels_ == ["C", "N", "O"]
    shares = statistics.transform(graphs)[:, -3:]
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert statistics.get_feature_names_out()[-1] == "share of label O"


@pytest.mark.parametrize(
    "graph",
    [
        [{0: [1], 1: [0, 2], 2: [1], 3: []}, {0: "a", 1: "b", 2: "a", 3: "a"}],
        ({0: {1: 2.0}, 1: {2: 1.0}, 3: {}}, {0: "a", 1: "b", 2: "a", 3: "a"}),
        [[(0, 1), (1, 2), (2, 2)], {0: "a", 1: "b", 2: "a", 3: "a"}],
    ],
)
def test_forms_are_alike(graph):
    same = [[(1, 0), (2, 1)], {0: "a", 1: "b", 2: "a", 3: "a"}]
    for model in (WeisfeilerLehmanFeatures(), GraphStatistics()):
        Z = model.fit_transform([graph, same])
        Z = Z.toarray() if hasattr(Z, "toarray") else Z
        np.testing.assert_array_equal(Z[0], Z[1])


@pytest.mark.parametrize("point", [3, "path", [3], {"a": 1}])
@pytest.mark.parametrize("model", [WeisfeilerLehmanFeatures(), GraphStatistics()])
def test_what_is_no_graph_is_refused(model, point):
    with pytest.raises(ValueError, match=r"'X' must hold graphs .* at 1"):
        model.fit([[[(0, 1)]], point]).transform([[[(0, 1)]], point])


def test_parameters_are_checked():
    with pytest.raises(ValueError, match="'n_iterations' parameter of WeisfeilerLehmanFeatures"):
        WeisfeilerLehmanFeatures(-1).fit([])
