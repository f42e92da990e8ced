"""
Sets, by what they have in common
=================================

Baskets of goods, by the Jaccard index: the size of the intersection over that of the union.
FTUNE-S compares a basket with pairs of others, here 30 baskets in all.
"""

import numpy as np

from kernlearn.landmarks import FTuneClassifier

rng = np.random.default_rng(0)
y = rng.integers(3, size=400)
liked = [rng.permutation(60)[:25] for _ in range(3)]
baskets = [frozenset(rng.choice(np.r_[liked[k], liked[k], range(60)], 20).tolist()) for k in y]
model = FTuneClassifier(30, similarity="jaccard", selection="shared", random_state=0)
model.fit(baskets[:250], y[:250])
print(f"accuracy {model.score(baskets[250:], y[250:]):.3f}, {model.n_comparisons_} comparisons")

# %%
# Baskets of a class have more in common than those of two.

import altair as alt
import pandas as pd

some = [(a, b) for a in range(100) for b in range(a)]
alike = [len(baskets[a] & baskets[b]) / len(baskets[a] | baskets[b]) for a, b in some]
pairs = pd.DataFrame({"Jaccard index": alike, "same class": [y[a] == y[b] for a, b in some]})
alt.Chart(pairs).mark_bar().encode(
    alt.X("Jaccard index", bin=alt.Bin(maxbins=25), title="Jaccard"),
    y=alt.Y("count()", title="pairs"),
    column="same class",
).properties(width=200, height=200)
