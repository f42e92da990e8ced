"""The plug-in of graphs.yaml, against slow counts and against GraKeL."""

import runpy
from itertools import combinations, permutations
from pathlib import Path

import numpy as np
import pytest

from kernlearn.datasets import molecule_graphs, random_graphs
from kernlearn.kernels import named

PLUGIN = runpy.run_path(str(Path(__file__).parents[2] / "configs" / "graph_features.py"))


@pytest.mark.parametrize("make", [molecule_graphs, random_graphs])
@pytest.mark.parametrize("n_iterations", [0, 1, 3])
def test_products_are_the_kernel_of_grakel(make, n_iterations):
    pytest.importorskip("grakel")
    graphs = make(12, random_state=1).data
    Z = PLUGIN["WeisfeilerLehmanFeatures"](n_iterations).fit_transform(graphs)
    if n_iterations:
        K = named("grakel.weisfeiler_lehman", n_iter=n_iterations)(graphs)
    else:
        K = named("grakel.vertex_histogram")(graphs)
    np.testing.assert_allclose((Z @ Z.T).toarray(), K, atol=2e-3)  # colours may share a column


def cycles(near, k):
    """The number of cycles of k nodes, by trying all."""
    number = 0
    for nodes in combinations(sorted(near), k):
        first, *rest = nodes
        for order in permutations(rest):
            ring = [first, *order]
            number += all(b in near[a] for a, b in zip(ring, ring[1:] + ring[:1], strict=True))
    return number // 2


@pytest.mark.parametrize("seed", range(3))
def test_cycles_are_counted(seed):
    for near, _ in random_graphs(3, n_nodes=12, random_state=seed).data:
        counted = PLUGIN["statistics"](near)
        for name, k in {"triangles": 3, "squares": 4, "pentagons": 5}.items():
            assert counted[name] == pytest.approx(cycles(near, k), abs=1e-6)


def test_statistics_are_those_of_networkx():
    nx = pytest.importorskip("networkx")
    expected = {
        "nodes": nx.number_of_nodes,
        "edges": nx.number_of_edges,
        "density": nx.density,
        "components": nx.number_connected_components,
        "clustering": nx.average_clustering,
        "assortativity": nx.degree_pearson_correlation_coefficient,
        "spectral radius": lambda graph: max(abs(nx.adjacency_spectrum(graph))),
    }
    for near, _ in random_graphs(6, random_state=3).data:
        graph, numbers = nx.from_dict_of_lists(near), PLUGIN["statistics"](near)
        for name, function in expected.items():
            assert numbers[name] == pytest.approx(function(graph))


def test_shares_of_labels():
    graphs = molecule_graphs(20, random_state=0).data
    model = PLUGIN["GraphStatistics"]().fit(graphs)
    shares = model.transform(graphs)[:, -len(model.labels_) :]
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    lonely = PLUGIN["GraphStatistics"]().fit_transform([({"a": []}, {"a": 0})])
    assert np.isfinite(lonely).all()
