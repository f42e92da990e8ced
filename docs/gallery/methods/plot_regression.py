"""
Regression on landmarks
=======================

RegLand is a linear function of the similarities to a few landmarks, with an insensitive loss. The
curve uses twenty landmarks among two hundred noisy points.
"""

import altair as alt
import numpy as np
import pandas as pd

from kernlearn.landmarks import RegLand

rng = np.random.default_rng(0)
X = np.sort(rng.uniform(-3, 3, 200))[:, None]
y = np.sin(2 * X).ravel() + rng.normal(0, 0.2, 200)
model = RegLand(20, similarity="laplacian", C=10, epsilon=0.1, random_state=0).fit(X, y)
print(f"R² {model.score(X, np.sin(2 * X).ravel()):.3f} of the curve without noise")

# %%
# The points and the curve.

frame = pd.DataFrame({"x": X.ravel(), "y": y, "prediction": model.predict(X)})
alt.layer(
    alt.Chart(frame).mark_circle(opacity=0.4).encode(x="x", y="y"),
    alt.Chart(frame).mark_line(color="firebrick").encode(x="x", y="prediction"),
)
