"""
One pass over rows, a whole path of models
==========================================

One-pass ridge classification reads each row once. Here the error falls as more chunks arrive, and
what is kept does not grow.
"""

import altair as alt
import numpy as np
import pandas as pd

from kernlearn.features import RandomMaclaurin
from kernlearn.onepass import OnePassRidgeClassifier


def chunk(seed):
    """A thousand rows and the sign of a product, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-0.5, 0.5, size=(1000, 4))
    return X, X[:, 0] * X[:, 1] + rng.normal(0, 0.03, 1000) > 0


features = RandomMaclaurin(n_components=50, h01=True, random_state=0)
model = OnePassRidgeClassifier(features)
X_test, y_test = chunk(1000)
rows = []
for n in range(1, 21):
    model.partial_fit(*chunk(n), classes=[False, True])
    rows.append({"rows": 1000 * n, "accuracy": model.score(X_test, y_test)})
alt.Chart(pd.DataFrame(rows)).mark_line(point=True).encode(
    alt.X("rows", scale=alt.Scale(type="log")), alt.Y("accuracy", scale=alt.Scale(zero=False))
)
