"""
Time series of unequal lengths
==============================

Two kinds of waves, stretched and cut at random. The time warp edit distance compares series of any
lengths; it is one of aeon's elastic distances, which the extra ``series`` installs.
"""

import numpy as np

from kernlearn.landmarks import LandmarkKNNClassifier

rng = np.random.default_rng(0)
y = rng.integers(2, size=300)
times = [np.linspace(0, 4 * np.pi * rng.uniform(0.7, 1.3), rng.integers(30, 60)) for _ in y]
series = [
    np.sin(t) + 0.5 * k * np.sin(2 * t) + rng.normal(0, 0.3, len(t))
    for t, k in zip(times, y, strict=True)
]
model = LandmarkKNNClassifier(20, similarity="aeon.twe", random_state=0)
model.fit(series[:200], y[:200])
print(f"accuracy {model.score(series[200:], y[200:]):.3f}, {model.n_comparisons_} comparisons")

# %%
# Three series of each kind.

import altair as alt
import pandas as pd

shown = [i for k in (0, 1) for i in np.flatnonzero(y == k)[:3]]
frames = [pd.DataFrame({"value": series[i], "series": i, "kind": y[i]}) for i in shown]
points = pd.concat(frames).rename_axis("time").reset_index()
alt.Chart(points).mark_line().encode(
    x="time", y="value", detail="series:N", column="kind:N"
).properties(width=200, height=200)
