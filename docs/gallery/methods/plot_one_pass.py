"""
One pass over rows, a whole path of models
==========================================

One-pass ridge classification reads each row once and keeps only sums. Here the accuracy grows as
chunks arrive, where a linear model on the rows themselves cannot learn at all.
"""

import altair as alt
import numpy as np
import pandas as pd
from sklearn.preprocessing import FunctionTransformer

from kernlearn.features import RandomMaclaurin
from kernlearn.onepass import OnePassRidgeClassifier


def chunk(seed, n=50):
    """Rows, and the sign of a product with some noise."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-0.5, 0.5, size=(n, 4))
    return X, X[:, 0] * X[:, 1] + rng.normal(0, 0.01, n) > 0


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
