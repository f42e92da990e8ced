"""
Ordered classes
===============

ORLand learns one function of a point and the thresholds at which a class gives way to the next:
stars of a review, grades, stages.
"""

import altair as alt
import numpy as np
import pandas as pd
from sklearn.metrics import mean_absolute_error

from kernlearn.landmarks import ORLand

rng = np.random.default_rng(0)
X = np.sort(rng.uniform(0, 1, 300))[:, None]
stars = np.digitize(X.ravel() ** 2 + rng.normal(0, 0.03, 300), [0.1, 0.3, 0.6]) + 1
model = ORLand(20, C=100, random_state=0).fit(X, stars)
print(f"mean distance from the right class {mean_absolute_error(stars, model.predict(X)):.3f}")

# %%
# The true class of each point, with a little jitter, and the predicted one as a line.

frame = pd.DataFrame({"x": X.ravel(), "stars": stars, "predicted": model.predict(X)})
frame["shown"] = frame["stars"] + rng.uniform(-0.15, 0.15, 300)
alt.layer(
    alt.Chart(frame).mark_circle(opacity=0.4).encode(x="x", y=alt.Y("shown", title="stars")),
    alt.Chart(frame).mark_line(color="firebrick").encode(x="x", y="predicted"),
)
