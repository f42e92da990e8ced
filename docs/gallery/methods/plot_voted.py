"""
Few support vectors, many kernels
=================================

Voted kernel regularization combines many kernels with few support vectors. Here they
separate the two moons.
"""

import altair as alt
import numpy as np
import pandas as pd
from sklearn.datasets import make_moons

from kernlearn.voted import VotedKernelClassifier

X, y = make_moons(200, noise=0.15, random_state=0)
model = VotedKernelClassifier(lam=1e-3, beta=1e-3).fit(X[:150], y[:150])
print(f"accuracy {model.score(X[150:], y[150:]):.3f}, {model.n_support_} support vectors")

# %%
# The boundary, and the training points.

side = np.linspace(-1.5, 2.5, 40)
grid = np.c_[np.repeat(side, 40), np.tile(np.linspace(-1, 1.5, 40), 40)]
plane = pd.DataFrame({"x": grid[:, 0], "y": grid[:, 1], "class": model.predict(grid)})
points = pd.DataFrame({"x": X[:150, 0], "y": X[:150, 1], "class": y[:150]})
alt.layer(
    alt.Chart(plane).mark_square(size=150, opacity=0.15).encode(x="x", y="y", color="class:N"),
    alt.Chart(points).mark_circle(size=40).encode(x="x", y="y", color="class:N"),
)
