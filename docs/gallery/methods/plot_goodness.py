"""
How good is a similarity?
=========================

The goodness of a similarity says before any training how well landmarks can do with it: the mean
similarity of a point to its own class, less that to the other one. Points left of zero would be
misplaced.
"""

import altair as alt
import numpy as np
import pandas as pd
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from kernlearn.kernels import GaussianKernel

X, y = load_wine(return_X_y=True)
one = y == 0
rows = []
for name, points in {"raw": X, "scaled": scale(X)}.items():
    K = GaussianKernel(sigma=float(np.sqrt(points.var(axis=0).sum())))(points, points)
    np.fill_diagonal(K, np.nan)
    margin = np.nanmean(K[:, one], axis=1) - np.nanmean(K[:, ~one], axis=1)
    margin = np.where(one, margin, -margin)
    rows.append(pd.DataFrame({"margin": margin, "features": name}))
    print(f"{name}: {np.mean(margin < 0):.3f} of the points misplaced")

# %%
# The margins of all points.

alt.Chart(pd.concat(rows)).mark_bar().encode(
    alt.X("margin", bin=alt.Bin(maxbins=40)), y="count()", row="features"
)
