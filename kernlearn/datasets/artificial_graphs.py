"""Artificial data: generators of graphs, whose classes are known to differ in one respect.

A graph is (neighbours, labels): for each node its neighbours with weights 1, and for each node its
label, 0 where nodes have none.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from kernlearn.checks import check_count, check_positive, check_proportion
from kernlearn.datasets.chunks import Seed, generator_of
from kernlearn.datasets.objects import as_objects
from kernlearn.datasets.registering import register, to_bunch

if TYPE_CHECKING:
    from sklearn.utils import Bunch

Graph = tuple[dict[int, dict[int, float]], dict[int, Any]]
Edges = set[tuple[int, int]]

_BONDS = 4  # of an atom C


@register(points="graphs")
def random_graphs(
    n_samples: int = 300, n_nodes: int = 30, rewired: float = 0.2, random_state: Seed = None
) -> "Bunch":
    """Draw graphs of three models of networks, all with as many edges.

    The classes are "random", the model of Erdős and Rényi with a given number of edges;
    "preferential", that of Barabási and Albert, where each new node is joined to two others, with
    probabilities in proportion to their degrees; and "small_world", that of Watts and Strogatz, a
    ring in which each node is joined to the two nearest on both sides. A graph has n_nodes/2 to
    3 n_nodes/2 nodes, n, and 2n - 3 edges: numbers of nodes and edges say nothing. Then each edge
    is moved with probability `rewired` to a pair of nodes drawn uniformly; the nearer to 1, the
    more all are alike.

    Parameters
    ----------
    n_samples : int, default=300
        The number of graphs.
    n_nodes : int, default=30
        Their mean number of nodes, at least 12.
    rewired : float, default=0.2
        The share of edges that are moved, in [0, 1).
    random_state : int, RandomState instance or None, default=None
        The random seed or generator.

    Returns
    -------
    sklearn.utils.Bunch
        As from :func:`load`, with an array of graphs as ``data``, each (neighbours, labels);
        ``card`` is None.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    Erdős, P., Rényi, A. (1959). On random graphs. Publicationes Mathematicae 6.
    Barabási, A.-L., Albert, R. (1999). Emergence of scaling in random networks. Science 286.
    Watts, D. J., Strogatz, S. H. (1998). Collective dynamics of small-world networks. Nature 393.

    Examples
    --------
    >>> from kernlearn.datasets import random_graphs
    >>> neighbours, labels = random_graphs(n_samples=1, random_state=0).data[0]
    >>> sum(map(len, neighbours.values())) == 2 * (2 * len(labels) - 3)
    True
    """
    _check_nodes(n_samples, n_nodes, 12)
    check_proportion(rewired=rewired)
    rng = generator_of(random_state)
    y = rng.randint(3, size=n_samples)
    points = []
    for code in y:
        n = _size(n_nodes, rng)
        edges: Edges = set()
        if code == 1:
            edges = _preferential(n, 2, rng)
        elif code == 2:
            ring = [_edge(u, (u + step) % n) for step in (1, 2) for u in range(n)]
            left_out = {int(i) for i in rng.choice(len(ring), 3, replace=False)}
            edges = {edge for i, edge in enumerate(ring) if i not in left_out}
        kept = {edge for edge in sorted(edges) if rng.uniform() >= rewired}
        points.append(_graph(n, _filled(kept, n, 2 * n - 3, rng)))
    return to_bunch(as_objects(points), y, "random", "preferential", "small_world")


@register(points="graphs")
def block_graphs(
    n_samples: int = 300,
    n_nodes: int = 40,
    degree: float = 5.0,
    inside: float = 0.75,
    random_state: Seed = None,
) -> "Bunch":
    """Draw graphs with one, two or four communities, by the stochastic block model.

    A graph has n_nodes/2 to 3 n_nodes/2 nodes, which are divided into communities of sizes that
    differ by at most one, and `degree` edges at each node on the average. An edge is between two
    nodes of one community with probability `inside`, else between two of different ones, all pairs
    alike; with one community all pairs of nodes are alike. Degrees have the same mean in all
    classes; they vary a little less the more communities there are, as edges in small ones are
    nearly certain.

    Parameters
    ----------
    n_samples : int, default=300
        The number of graphs.
    n_nodes : int, default=40
        Their mean number of nodes, at least 16.
    degree : float, default=5.0
        The mean degree, above 0; `degree` times `inside` is at most n_nodes/8 - 1, what four
        communities have room for.
    inside : float, default=0.75
        The share of edges within communities, in [0, 1). A quarter, and about half, is what four
        and two communities have by chance.
    random_state : int, RandomState instance or None, default=None
        The random seed or generator.

    Returns
    -------
    sklearn.utils.Bunch
        As from :func:`load`, with an array of graphs as ``data``, each (neighbours, labels);
        ``card`` is None.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    Holland, P. W., Laskey, K. B., Leinhardt, S. (1983). Stochastic blockmodels: first steps.
    Social Networks 5.

    Examples
    --------
    >>> from kernlearn.datasets import block_graphs
    >>> drawn = block_graphs(50, random_state=0)
    >>> drawn.target_names.tolist()
    ['1', '2', '4']
    >>> neighbours, labels = drawn.data[0]
    >>> len(neighbours), sum(map(len, neighbours.values())) // 2
    (37, 93)
    """
    _check_nodes(n_samples, n_nodes, 16)
    check_proportion(inside=inside)
    check_positive(degree=degree)
    if degree * inside > (room := n_nodes // 2 // 4 - 1):
        raise ValueError(
            f"'degree' times 'inside' must be at most {room}, the others in the smallest of four "
            f"communities, got {degree * inside:g}"
        )
    rng = generator_of(random_state)
    y = rng.randint(3, size=n_samples)
    points = []
    for code in y:
        n = _size(n_nodes, rng)
        community = rng.permutation(n) % (1, 2, 4)[code]
        u, v = np.triu_indices(n, 1)
        within = community[u] == community[v]
        wanted = degree * n / 2
        share = np.where(within, inside / within.sum(), (1 - inside) / max((~within).sum(), 1))
        if code == 0:
            share = np.full(len(u), 1 / len(u))
        joined = rng.uniform(size=len(u)) < wanted * share
        edges = set(zip(u[joined].tolist(), v[joined].tolist(), strict=True))
        points.append(_graph(n, edges))
    return to_bunch(as_objects(points), y, "1", "2", "4")


@register(points="graphs")
def motif_graphs(
    n_samples: int = 300, n_nodes: int = 20, extra: float = 0.1, random_state: Seed = None
) -> "Bunch":
    """Draw trees to which a house or a cycle of five nodes is joined.

    A tree of the model of Barabási and Albert, with one new edge for each new node and n_nodes/2
    to 3 n_nodes/2 nodes, is joined by an edge to a motif of five nodes: a "house", a square with a
    triangle on it, or a "cycle". The cycle gets a sixth edge, between two nodes of the tree, so
    that both classes have as many edges. Then random edges are added to the tree, `extra` for each
    of its nodes on the average, which make other cycles.

    Parameters
    ----------
    n_samples : int, default=300
        The number of graphs.
    n_nodes : int, default=20
        The mean number of nodes of the trees, at least 8.
    extra : float, default=0.1
        The number of edges added for each node, in [0, 1).
    random_state : int, RandomState instance or None, default=None
        The random seed or generator.

    Returns
    -------
    sklearn.utils.Bunch
        As from :func:`load`, with an array of graphs as ``data``, each (neighbours, labels);
        ``card`` is None.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    After the data BA-2motifs of Luo, D. et al. (2020). Parameterized explainer for graph neural
    network. Advances in Neural Information Processing Systems 33, which has no edges added.

    Examples
    --------
    >>> from kernlearn.datasets import motif_graphs
    >>> drawn = motif_graphs(50, extra=0.0, random_state=0)
    >>> drawn.target_names.tolist()
    ['house', 'cycle']
    >>> neighbours, labels = drawn.data[0]
    >>> sum(map(len, neighbours.values())) // 2 - len(neighbours)
    1
    """
    _check_nodes(n_samples, n_nodes, 8)
    check_proportion(extra=extra)
    rng = generator_of(random_state)
    y = rng.randint(2, size=n_samples)
    points = []
    for code in y:
        n = _size(n_nodes, rng)
        edges = _preferential(n, 1, rng)
        added = int(rng.poisson(extra * n)) + (1 if code == 1 else 0)
        edges = _filled(edges, n, min(len(edges) + added, n * (n - 1) // 2), rng)
        motif = {_edge(n + i, n + (i + 1) % 5) for i in range(5)}
        if code == 0:
            motif.add((n, n + 2))
        joint = (int(rng.randint(n)), n + int(rng.randint(5)))
        points.append(_graph(n + 5, edges | motif | {joint}))
    return to_bunch(as_objects(points), y, "house", "cycle")


@register(points="graphs")
def molecule_graphs(
    n_samples: int = 300,
    n_nodes: int = 16,
    groups: int = 2,
    noise: float = 0.05,
    random_state: Seed = None,
) -> "Bunch":
    """Draw trees of the atoms C, N and O, like molecules, that differ in how groups are made up.

    A skeleton of n_nodes/2 to 3 n_nodes/2 atoms C is a random tree in which no atom has more than
    four neighbours. Then pairs of atoms are joined to 2k of the C, with k from 1 to `groups`: in
    class "mixed" an N and an O to each, in class "alike" two N to half of them and two O to the
    others. Both classes have the same atoms, with the same numbers of neighbours: only whether an
    N and an O share a C tells. A share of `noise` has the label of the other class, so that no
    classifier is right more often than 1 - `noise` on the average.

    Parameters
    ----------
    n_samples : int, default=300
        The number of graphs.
    n_nodes : int, default=16
        The mean number of atoms C, at least 8 `groups`.
    groups : int, default=2
        The greatest k, at least 1.
    noise : float, default=0.05
        The share of wrong labels, in [0, 1).
    random_state : int, RandomState instance or None, default=None
        The random seed or generator.

    Returns
    -------
    sklearn.utils.Bunch
        As from :func:`load`, with an array of graphs as ``data``, each (neighbours, labels);
        ``card`` is None.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> from kernlearn.datasets import molecule_graphs
    >>> drawn = molecule_graphs(50, random_state=0)
    >>> neighbours, labels = drawn.data[0]
    >>> sorted(set(labels.values()))
    ['C', 'N', 'O']
    >>> drawn.target_names.tolist()
    ['mixed', 'alike']
    """
    check_count(groups=groups)
    _check_nodes(n_samples, n_nodes, 8 * groups)
    check_proportion(noise=noise)
    rng = generator_of(random_state)
    y = rng.randint(2, size=n_samples)
    points = []
    for code in y:
        n = _size(n_nodes, rng)
        skeleton = _tree(n, rng)
        degrees = np.bincount(np.ravel(sorted(skeleton)), minlength=n)
        k = int(rng.randint(1, groups + 1))
        # more than half of a tree has at most two neighbours, and two bonds free
        places = rng.permutation(np.flatnonzero(degrees <= 2))[: 2 * k].tolist()
        added = "NO" * 2 * k if code == 0 else "NN" * k + "OO" * k
        bonds = {(place, n + 2 * i + j) for i, place in enumerate(places) for j in (0, 1)}
        points.append(_graph(n + len(added), skeleton | bonds, "C" * n + added))
    wrong = rng.uniform(size=n_samples) < noise
    return to_bunch(as_objects(points), np.where(wrong, 1 - y, y), "mixed", "alike")


def _size(n_nodes: int, rng: np.random.RandomState) -> int:
    return int(rng.randint(n_nodes // 2, n_nodes + n_nodes // 2 + 1))


def _edge(u: int, v: int) -> tuple[int, int]:
    return (u, v) if u < v else (v, u)


def _preferential(n: int, m: int, rng: np.random.RandomState) -> Edges:
    """Join each new node to m others, with probabilities in proportion to their degrees."""
    edges: Edges = {(0, 1)}
    ends = [0, 1]
    for node in range(2, n):
        chosen: set[int] = set()
        while len(chosen) < min(m, node):
            chosen.add(ends[rng.randint(len(ends))])
        edges |= {(other, node) for other in chosen}
        ends += [node, *sorted(chosen)] + [node] * (len(chosen) - 1)
    return edges


def _tree(n: int, rng: np.random.RandomState) -> Edges:
    """Join each new node to one of those that have bonds left, all alike."""
    edges: Edges = set()
    degrees = np.zeros(n, dtype=int)
    for node in range(1, n):
        other = int(rng.choice(np.flatnonzero(degrees[:node] < _BONDS)))
        degrees[[other, node]] += 1
        edges.add((other, node))
    return edges


def _filled(edges: Edges, n: int, wanted: int, rng: np.random.RandomState) -> Edges:
    """Add edges between pairs of the first n nodes, drawn uniformly, up to a number."""
    found = set(edges)
    while len(found) < wanted:
        u, v = (int(node) for node in rng.choice(n, 2, replace=False))
        found.add(_edge(u, v))
    return found


def _graph(n: int, edges: Edges, labels: Any = None) -> Graph:
    near: dict[int, dict[int, float]] = {node: {} for node in range(n)}
    for u, v in sorted(edges):
        near[u][v] = near[v][u] = 1.0
    return near, dict(enumerate([0] * n if labels is None else labels))


def _check_nodes(n_samples: int, n_nodes: int, least: int) -> None:
    check_count(n_samples=n_samples, n_nodes=n_nodes)
    if n_nodes < least:
        raise ValueError(f"'n_nodes' must be at least {least}, got {n_nodes}")
