"""
Graphs, by a graph kernel
=========================

Trees of atoms, like molecules, which differ in what atoms have a neighbour in common. The
Weisfeiler-Lehman kernel is one of GraKeL's, which the extra ``graphs`` installs; graphs may be
networkx's as well.
"""

from kernlearn.datasets import molecule_graphs
from kernlearn.kernels import named
from kernlearn.landmarks import BBSClassifier

data = molecule_graphs(300, noise=0.0, random_state=0)
graphs, y = data.data, data.target_names[data.target]
similarity = named("grakel.weisfeiler_lehman", n_iter=2)
model = BBSClassifier(50, similarity=similarity, C=100.0, random_state=0).fit(
    graphs[:200], y[:200]
)
print(f"accuracy {model.score(graphs[200:], y[200:]):.3f}, {model.n_comparisons_} comparisons")

# %%
# One graph of each class: in "mixed" an N and an O share a C, in "alike" two N or two O do.

import altair as alt
import networkx as nx
import pandas as pd


def drawn(kind):
    """The first graph of a class: its edges as lines, its atoms as points."""
    neighbours, labels = graphs[list(y).index(kind)]
    at = nx.kamada_kawai_layout(nx.from_dict_of_lists(neighbours))
    ends = [(*at[u], *at[v]) for u in neighbours for v in neighbours[u] if u < v]
    lines = pd.DataFrame(ends, columns=["x", "y", "x2", "y2"])
    atoms = pd.DataFrame([(*at[u], labels[u]) for u in neighbours], columns=["x", "y", "atom"])
    x, y_ = (alt.X("x", axis=None), alt.Y("y", axis=None))
    edges = alt.Chart(lines).mark_rule(color="grey").encode(x, y_, x2="x2", y2="y2")
    points = alt.Chart(atoms).mark_circle(size=90, opacity=1).encode(x, y_, color="atom")
    return alt.layer(edges, points).properties(title=kind, width=230, height=230)


drawn("mixed") | drawn("alike")
