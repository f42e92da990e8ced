"""
Graphs, by a graph kernel
=========================

Trees of atoms, like molecules, which differ in what atoms have a neighbour in common. The
Weisfeiler-Lehman kernel is one of GraKeL's, which the extra ``graphs`` installs; graphs may be
networkx's as well.
"""

from kernlearn.datasets import molecule_graphs
from kernlearn.landmarks import BBSClassifier
from kernlearn.similarities import GrakelKernel

data = molecule_graphs(300, noise=0.0, random_state=0)
graphs, y = data.data, data.target_names[data.target]
similarity = GrakelKernel("weisfeiler_lehman", n_iter=2)
model = BBSClassifier(50, similarity=similarity, C=100.0, random_state=0).fit(
    graphs[:200], y[:200]
)
print(f"accuracy {model.score(graphs[200:], y[200:]):.3f}, {model.n_comparisons_} comparisons")

# %%
# That kernel has features, counts of neighbourhoods. A linear classifier on them compares a graph
# with no other.

from sklearn.pipeline import make_pipeline

from kernlearn.similarities import WeisfeilerLehmanFeatures
from kernlearn.solvers import LinearSVM

counts = make_pipeline(WeisfeilerLehmanFeatures(2), LinearSVM(C=100.0)).fit(graphs[:200], y[:200])
print(f"counts: accuracy {counts.score(graphs[200:], y[200:]):.3f}, 0 comparisons")
