"""
Learning from pairs with a small buffer
=======================================

OLP sees a stream of points and pairs each with those in a buffer, to rank one class above the
other. A buffer of a few points is nearly as good as one of many.
"""

import altair as alt
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from kernlearn.pairwise import OAM, OLP

X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)
rows = []
for size in (2, 5, 20, 50):
    for seed in range(3):
        for name, model in {
            "OLP": OLP(buffer_size=size, random_state=seed),
            "OAM": OAM(buffer_size=size, C=1e-3, random_state=seed),
        }.items():
            scores = model.fit(X[:400], y[:400]).decision_function(X[400:])
            rows.append({"buffer": size, "AUC": roc_auc_score(y[400:], scores), "method": name})
alt.Chart(pd.DataFrame(rows)).mark_line(point=True).encode(
    alt.X("buffer", scale=alt.Scale(type="log")),
    alt.Y("mean(AUC)", scale=alt.Scale(zero=False)),
    color="method",
)
