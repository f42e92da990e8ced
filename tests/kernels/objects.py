"""Small sets of points of each kind, with classes that similarities can tell."""

import numpy as np


def as_array(points):
    """Return an array of objects, whatever they hold."""
    return np.fromiter(points, dtype=object, count=len(points))


def by_hand(function, left, right):
    return np.array([[float(function(x, y)) for y in right] for x in left])


def strings(n=60, seed=0):
    rng = np.random.RandomState(seed)
    words, classes = [], []
    for i in range(n):
        word = list(("similarity", "landmark")[i % 2])
        for _ in range(rng.randint(1, 4)):
            word[rng.randint(len(word))] = rng.choice(list("aeiou"))
        words.append("".join(word[: rng.randint(6, len(word) + 1)]))
        classes.append(("long", "short")[i % 2])
    return words, np.array(classes)


def series(n=60, seed=0):
    """Of unequal lengths, of one of two frequencies."""
    rng = np.random.RandomState(seed)
    lengths = rng.randint(15, 25, size=n)
    points = [
        np.sin(np.arange(m) * (0.4, 0.9)[i % 2] + rng.rand()) + 0.1 * rng.randn(m)
        for i, m in enumerate(lengths)
    ]
    return points, np.array(["slow", "fast"])[np.arange(n) % 2]


class Graph:
    """A graph by its edges, which nothing but a function of two graphs understands."""

    def __init__(self, edges):
        self.edges = edges

    def __repr__(self):
        return f"Graph({len(self.edges)} edges)"


def graphs(n=60, seed=0):
    """Of one of two densities."""
    rng = np.random.RandomState(seed)
    points = []
    for i in range(n):
        size = rng.randint(5, 9)
        drawn = np.triu(rng.rand(size, size) < (0.3, 0.7)[i % 2], 1)
        points.append(
            Graph(frozenset(zip(*(places.tolist() for places in np.nonzero(drawn)), strict=True)))
        )
    return points, np.array(["thin", "thick"])[np.arange(n) % 2]


def common_edges(x, y):
    return len(x.edges & y.edges) / max(len(x.edges | y.edges), 1)


def degrees(x, y):
    return abs(len(x.edges) - len(y.edges))


def alike(x, y):
    return 1 / (1 + degrees(x, y))


def networks(n=60, seed=0):
    """The same as graphs of networkx, None without it."""
    try:
        import networkx
    except ImportError:
        return None, None
    points, classes = graphs(n, seed)
    made = []
    for point in points:
        made.append(networkx.Graph())
        made[-1].add_nodes_from(range(8))
        made[-1].add_edges_from(point.edges)
    return made, classes
