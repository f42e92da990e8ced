"""
One pass over rows, a whole path of models
==========================================

One-pass ridge classification reads each row once and keeps only sums. Here the class depends on
products of columns. On random features the accuracy grows as chunks arrive; on the rows themselves
a linear model cannot learn at all.
"""

import altair as alt
import numpy as np
import pandas as pd
from sklearn.preprocessing import FunctionTransformer

from kernlearn.features import RandomMaclaurin
from kernlearn.onepass import OnePassRidgeClassifier


def chunk(seed, n=50):
    """Rows, and the sign of a sum of products."""
    X = np.random.default_rng(seed).normal(size=(n, 8))
    return X, (X[:, ::2] * X[:, 1::2]).sum(axis=1) > 0


maps = {
    "random features": RandomMaclaurin(n_components=100, h01=True, random_state=0),
    "rows themselves": FunctionTransformer(),
}
X_test, y_test = chunk(1000, 5000)
rows = []
for name, feature_map in maps.items():
    model = OnePassRidgeClassifier(feature_map)
    for n in range(1, 129):
        model.partial_fit(*chunk(n), classes=[False, True])
        if n & (n - 1) == 0:
            rows.append(
                {"rows": 50 * n, "features": name, "accuracy": model.score(X_test, y_test)}
            )
alt.Chart(pd.DataFrame(rows)).mark_line(point={"size": 60}).encode(
    alt.X("rows", scale=alt.Scale(type="log", domain=[50, 6400])),
    alt.Y("accuracy", scale=alt.Scale(zero=False), axis=alt.Axis(format="%")),
    alt.Color("features", title=None),
).properties(width=420, height=300)
