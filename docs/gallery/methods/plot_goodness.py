"""
How good is a similarity?
=========================

The margin of a point is how much more similar it is to its class than to the others, on average.
It says before any training how well landmarks can do: a point with a margin below zero would be
misplaced. Here wines are compared by a Gaussian similarity of what was measured.
"""

import altair as alt
import pandas as pd
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from kernlearn.theory import classification_goodness

X, y = load_wine(return_X_y=True)
rows = []
for name, points in {"raw": X, "scaled": scale(X)}.items():
    good = classification_goodness(points, y, similarity="gaussian")
    print(f"{name}: {good.error:.3f} of the wines misplaced")
    for k, margins in enumerate(good.margins):
        rows.append(pd.DataFrame({"margin": margins, "features": name, "class": k}))

# %%
# One feature has values of hundreds, which hide all others until they are scaled: then few margins
# are below zero. Each wine has a margin for each class, against the rest.

alt.Chart(pd.concat(rows)).mark_bar().encode(
    alt.X("margin", bin=alt.Bin(maxbins=40), title="margin"),
    y=alt.Y("count()", title="wines"),
    column="features",
    color="class:N",
).properties(width=200, height=200)
