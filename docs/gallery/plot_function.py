"""
Your own function
=================

Any function of two points will do. Here points are polygons: lists of corners in any order and
number. The smaller the Hausdorff distance of their corners, the more alike two polygons are.
"""

import numpy as np
from scipy.spatial.distance import cdist

from kernlearn.kernels import CallableKernel
from kernlearn.landmarks import BBSClassifier


def outlines(a, b):
    """The Hausdorff distance of two sets of corners."""
    distances = cdist(a, b)
    return max(distances.min(axis=0).max(), distances.min(axis=1).max())


rng = np.random.default_rng(0)
y = rng.integers(2, size=200)
angles = [np.sort(rng.uniform(0, 2 * np.pi, rng.integers(8, 20))) for _ in y]
polygons = [
    np.c_[np.cos(t), (0.6 + 0.4 * k) * np.sin(t)] + rng.normal(0, 0.05, (len(t), 2))
    for t, k in zip(angles, y, strict=True)
]
similarity = CallableKernel(outlines, kind="distance")
model = BBSClassifier(20, similarity=similarity, random_state=0).fit(polygons[:120], y[:120])
print(f"accuracy {model.score(polygons[120:], y[120:]):.3f}, {model.n_comparisons_} comparisons")

# %%
# Three polygons of each class.

import altair as alt
import pandas as pd

shown = [i for k in (0, 1) for i in np.flatnonzero(y == k)[:3]]
frames = [
    pd.DataFrame(polygons[i], columns=["x", "y"]).assign(polygon=i, kind=y[i]) for i in shown
]
corners = pd.concat(frames).rename_axis("corner").reset_index()
alt.Chart(corners).mark_line().encode(
    x="x", y="y", order="corner", detail="polygon:N", column="kind:N"
).properties(width=200, height=200)
